// Remove the triples that were extracted from passages; triples that documents also state stay as theirs. The mentions
// of passages that had any become pending.
// mode: write
// $ids: LIST<STRING> - passage ids
// -> entity: STRING - entity that lost a triple, or a name
UNWIND $ids AS id
MATCH (p:Kgrag:Passage {id: id})-[:STATES]->(t:Triple) WHERE t.extracted IS NOT NULL
SET p.todo = coalesce(p.todo, []) + [stage IN ['mentions'] WHERE NOT stage IN coalesce(p.todo, [])]
WITH t
MATCH (t)-[end:SUBJECT|OBJECT]->(e:Entity)
WITH t, t.given IS NULL AS stays, collect(CASE WHEN end.given = false THEN end END) AS gone,
     collect(CASE WHEN end.given IS NULL THEN end END) AS kept, collect(e.id) AS entities
FOREACH (end IN gone | DELETE end)
FOREACH (end IN kept | REMOVE end.extracted, end.aliases, end.wikipedia, end.type)
FOREACH (t IN [t IN [t] WHERE stays] | REMOVE t.extracted, t.relation, t.valid_from, t.valid_to, t.stated_at, t.cell)
FOREACH (t IN [t IN [t] WHERE NOT stays] | DETACH DELETE t)
WITH entities UNWIND entities AS entity
RETURN DISTINCT entity
