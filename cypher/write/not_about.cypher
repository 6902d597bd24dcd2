// Unlink documents from the entities that their titles no longer name.
// mode: write
// $rows: LIST<MAP> - {document, entities}: those that stay
// -> entity: STRING - entity that lost a title
UNWIND $rows AS row
MATCH (d:Document {id: row.document})-[a:ABOUT]->(e:Entity)
WHERE NOT e.id IN row.entities
SET e.todo = coalesce(e.todo, []) + [stage IN ['titles'] WHERE NOT stage IN coalesce(e.todo, [])]
DELETE a
RETURN DISTINCT e.id AS entity
