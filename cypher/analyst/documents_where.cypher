// title: Documents: by their metadata
// The documents with a value in their metadata (`metadata` lists the entries and values).
// mode: read
// $collection: STRING = 'default' - name of the collection
// $key: STRING = 'country' - name of the entry
// $value: STRING = 'Norway' - its value, or one of a list, as text
// $limit: INTEGER = 25 - rows wanted
// -> title: STRING - title, or key
// -> metadata: MAP - all its metadata
// -> source: STRING - where it was read
// -> document: NODE - the document, to be drawn
MATCH (d:Document {collection: $collection}) WHERE any(value IN [] + d['meta_' + $key] WHERE toString(value) = $value OR value = toFloatOrNull($value))
WITH d ORDER BY d.name LIMIT toInteger($limit)
RETURN d.name AS title, properties(d) AS metadata, d.source AS source, d AS document ORDER BY title
