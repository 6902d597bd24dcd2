// The titles of a collection's documents.
// mode: read
// $collection: STRING - name of the collection
// -> title: STRING - title, which may be empty
MATCH (d:Document {collection: $collection})
RETURN DISTINCT d.title AS title ORDER BY title
