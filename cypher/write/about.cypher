// Link documents to the entities that their titles name; the entities' title counts are due.
// mode: write
// $rows: LIST<MAP> - {document, entity, weight}
UNWIND $rows AS row
MATCH (d:Document {id: row.document})
MATCH (e:Entity {id: row.entity})
MERGE (d)-[a:ABOUT]->(e)
SET a.weight = row.weight, e.todo = coalesce(e.todo, []) + [stage IN ['titles'] WHERE NOT stage IN coalesce(e.todo, [])]
