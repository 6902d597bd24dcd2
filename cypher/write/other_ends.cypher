// Tie triples to the entities that they name by other rules than before, and to no others; whose triple it is stays.
// mode: write
// $rows: LIST<MAP> - {id, subject, object (entity ids)}
UNWIND $rows AS row
MATCH (t:Triple {id: row.id})
CALL (t, row) {
  MATCH (t)-[old:SUBJECT]->(e:Entity) WHERE e.id <> row.subject
  MATCH (s:Entity {id: row.subject})
  MERGE (t)-[new:SUBJECT]->(s)
  SET new = properties(old)
  DELETE old
}
CALL (t, row) {
  MATCH (t)-[old:OBJECT]->(e:Entity) WHERE e.id <> row.object
  MATCH (o:Entity {id: row.object})
  MERGE (t)-[new:OBJECT]->(o)
  SET new = properties(old)
  DELETE old
}
