// Remove triples stated by documents; those also extracted stay as such. Mentions of their passages become pending.
// mode: write
// $ids: LIST<STRING> - triple ids
// -> entity: STRING - entity that lost a triple
UNWIND $ids AS id
MATCH (p:Passage)-[:STATES]->(t:Kgrag:Triple {id: id})
SET p.todo = coalesce(p.todo, []) + [stage IN ['mentions'] WHERE NOT stage IN coalesce(p.todo, [])]
WITH t
MATCH (t)-[end:SUBJECT|OBJECT]->(e:Entity)
WITH t, t.extracted IS NOT NULL AS stays, collect(CASE WHEN end.extracted IS NULL THEN end END) AS gone,
     collect(CASE WHEN end.extracted THEN end END) AS kept, collect(e.id) AS entities
FOREACH (end IN gone | DELETE end)
FOREACH (end IN kept | SET end.given = false)
FOREACH (t IN [t IN [t] WHERE stays] | SET t.given = false)
FOREACH (t IN [t IN [t] WHERE NOT stays] | DETACH DELETE t)
WITH entities UNWIND entities AS entity
RETURN DISTINCT entity
