// Unlink documents or passages from the entities that they no longer name.
// mode: write
// label: held
// $rows: LIST<MAP> - {id, entities (that stay)}
// -> entity: STRING - entity that lost a title
UNWIND $rows AS row
MATCH (n:Kgrag:{label} {id: row.id})-[a:ABOUT]->(e:Entity)
WHERE NOT e.id IN row.entities
SET e.todo = coalesce(e.todo, []) + [stage IN ['titles'] WHERE NOT stage IN coalesce(e.todo, [])]
DELETE a
RETURN DISTINCT e.id AS entity
