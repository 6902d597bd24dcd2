// Write vectors of existing Entities.
// mode: write
// $rows: LIST<MAP> - {id, vector}
// $embedding: STRING - property that takes them
UNWIND $rows AS row
MATCH (n:Entity {id: row.id})
CALL db.create.setNodeVectorProperty(n, $embedding, row.vector)
