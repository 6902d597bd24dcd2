// Tie facts to other entities, under the names that the passages use; return the entities that lost a fact.
// mode: write
// $rows: LIST<MAP> - {id (of a triple), subject, object (entity ids)}
// -> entities: LIST<STRING> - entity ids
UNWIND $rows AS row
MATCH (t:Kgrag:Triple {id: row.id})
CALL (t, row) {
  MATCH (t)-[end:SUBJECT]->(before:Kgrag:Entity) WHERE before.id <> row.subject
  MATCH (now:Kgrag:Entity {id: row.subject})
  MERGE (t)-[moved:SUBJECT]->(now)
  SET moved += properties(end)
  DELETE end
  RETURN collect(before.id) AS subjects
}
CALL (t, row) {
  MATCH (t)-[end:OBJECT]->(before:Kgrag:Entity) WHERE before.id <> row.object
  MATCH (now:Kgrag:Entity {id: row.object})
  MERGE (t)-[moved:OBJECT]->(now)
  SET moved += properties(end)
  DELETE end
  RETURN collect(before.id) AS objects
}
RETURN subjects + objects AS entities
