// The vectors of every passage of a collection, with the score of its last neighbour.
// mode: read
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds the vector
// -> id: STRING - passage id
// -> vector: LIST<FLOAT> - vector
// -> floor: FLOAT - score of the last neighbour kept, null when there are fewer than wanted
MATCH (p:Passage {collection: $collection})
WHERE p[$embedding] IS NOT NULL
RETURN p.id AS id, p[$embedding] AS vector, p.similar_floor AS floor ORDER BY id
