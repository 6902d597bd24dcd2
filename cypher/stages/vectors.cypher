// The vectors of every node of a label in a collection that has one, with the score of its last neighbour.
// Many nodes are one row: a driver takes longer over a row than over its numbers.
// mode: read
// label: embedded
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds the vector
// -> nodes: LIST<LIST<ANY>> - [id, vector, floor]; floor: score of the last neighbour, null when there are too few
MATCH (n:{label} {collection: $collection})
WHERE n[$embedding] IS NOT NULL
WITH n ORDER BY n.id
WITH collect(n) AS every
UNWIND range(0, size(every) - 1, 500) AS start
RETURN [n IN every[start..start + 500] | [n.id, n[$embedding], n.similar_floor]] AS nodes
