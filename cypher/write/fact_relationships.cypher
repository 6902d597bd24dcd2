// Make the relationships that stand beside the facts of a schema.
// mode: write
// $rows: LIST<MAP> - {subject, object (entity ids), relation, properties}
UNWIND $rows AS row
MATCH (s:Kgrag:Entity {id: row.subject})
MATCH (o:Kgrag:Entity {id: row.object})
CREATE (s)-[r:$(row.relation)]->(o)
SET r = row.properties
