// The vectors of every node of a label in a collection that has one, with the score of its last neighbour.
// mode: read
// label: embedded
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds the vector
// -> id: STRING - id of a node
// -> vector: LIST<FLOAT> - vector
// -> floor: FLOAT - score of the last neighbour kept, null when there are fewer than wanted
MATCH (n:{label} {collection: $collection})
WHERE n[$embedding] IS NOT NULL
RETURN n.id AS id, n[$embedding] AS vector, n.similar_floor AS floor ORDER BY id
