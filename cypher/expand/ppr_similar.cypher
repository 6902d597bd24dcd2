// Personalised PageRank, exact: every pair of resembling names of a collection.
// mode: read
// $collection: STRING - name of the collection
// -> one: STRING - element id of an entity
// -> other: STRING - that of one whose name resembles its own
// -> score: FLOAT - (1 + cosine) / 2 of the names
MATCH (e:Entity {collection: $collection})-[s:SIMILAR]->(f:Entity)
RETURN elementId(e) AS one, elementId(f) AS other, s.score AS score
