// Tie triples that documents give to their entities.
// mode: write
// $rows: LIST<MAP> - {id, subject, object (entity ids)}
UNWIND $rows AS row
MATCH (t:Triple {id: row.id})
MATCH (s:Entity {id: row.subject})
MATCH (o:Entity {id: row.object})
MERGE (t)-[a:SUBJECT]->(s)
MERGE (t)-[b:OBJECT]->(o)
REMOVE a.given, b.given
