// The pairs of names of a collection that are tied as one entity's.
// mode: read
// $collection: STRING - name of the collection
// -> one: STRING - entity id, the smaller one
// -> other: STRING - entity id
// -> score: FLOAT - how sure that is
// -> evidence: STRING - what speaks for it
// -> by: STRING - who says so
MATCH (a:Entity {collection: $collection})-[s:SAME_AS]->(b:Entity)
RETURN a.id AS one, b.id AS other, s.score AS score, s.evidence AS evidence, s.by AS by
