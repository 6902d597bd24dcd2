// The passages of a collection that a search finds by words and vector.
// mode: read
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds the vector
// -> id: STRING - passage id
MATCH (p:Passage {collection: $collection})
WHERE p[$embedding] IS NOT NULL
RETURN p.id AS id
