// The documents of a collection whose metadata is kept as JSON, or that have some and no date.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - document id
// -> properties: MAP - properties of the node
MATCH (d:Document {collection: $collection})
WHERE d.metadata IS NOT NULL OR d.dated IS NULL AND any(key IN keys(d) WHERE key STARTS WITH 'meta_')
RETURN d.id AS id, d {.*, outline: null} AS properties
