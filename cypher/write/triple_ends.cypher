// Tie triples that documents give to their entities.
// mode: write
// $rows: LIST<MAP> - {id, subject, object (entity ids)}
UNWIND $rows AS row
MATCH (t:Kgrag:Triple {id: row.id})
MATCH (s:Kgrag:Entity {id: row.subject})
MATCH (o:Kgrag:Entity {id: row.object})
MERGE (t)-[a:SUBJECT]->(s)
MERGE (t)-[b:OBJECT]->(o)
REMOVE a.given, b.given
