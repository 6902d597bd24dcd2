// Pairs of names of a collection that are near by their vectors.
// mode: read
// $collection: STRING - name of the collection
// $near: FLOAT = 0.95 - score from which: (1 + cosine) / 2
// -> one: STRING - entity id
// -> other: STRING - entity id
MATCH (a:Entity {collection: $collection})-[s:SIMILAR]->(b:Entity) WHERE s.score >= $near
RETURN a.id AS one, b.id AS other
