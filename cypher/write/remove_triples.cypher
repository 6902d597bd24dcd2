// Remove triples; their passages' mentions are due.
// mode: write
// $ids: LIST<STRING> - triple ids
// -> entity: STRING - entity that lost a triple
UNWIND $ids AS id
MATCH (p:Passage)-[:STATES]->(t:Triple {id: id})-[:SUBJECT|OBJECT]->(e:Entity)
SET p.todo = coalesce(p.todo, []) + [stage IN ['mentions'] WHERE NOT stage IN coalesce(p.todo, [])]
WITH DISTINCT t, e
WITH e, collect(t) AS triples
FOREACH (t IN triples | DETACH DELETE t)
RETURN DISTINCT e.id AS entity
