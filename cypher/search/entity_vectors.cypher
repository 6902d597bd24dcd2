// The vectors of every entity of a collection that has one, with the score of its last neighbour.
// mode: read
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds the vector
// -> id: STRING - entity id
// -> vector: LIST<FLOAT> - vector
// -> floor: FLOAT - score of the last neighbour kept, null when there are fewer than wanted
MATCH (e:Entity {collection: $collection})
WHERE e[$embedding] IS NOT NULL
RETURN e.id AS id, e[$embedding] AS vector, e.similar_floor AS floor ORDER BY id
