// Unlink passages from the entities that their headings and first words no longer name.
// mode: write
// $rows: LIST<MAP> - {passage, entities}: those that stay
// -> entity: STRING - entity that lost a title
UNWIND $rows AS row
MATCH (p:Passage {id: row.passage})-[a:ABOUT]->(e:Entity)
WHERE NOT e.id IN row.entities
SET e.todo = coalesce(e.todo, []) + [stage IN ['titles'] WHERE NOT stage IN coalesce(e.todo, [])]
DELETE a
RETURN DISTINCT e.id AS entity
