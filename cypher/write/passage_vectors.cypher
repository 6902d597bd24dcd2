// Write vectors of existing Passages.
// mode: write
// $rows: LIST<MAP> - {id, vector}
// $embedding: STRING - property that takes them
UNWIND $rows AS row
MATCH (n:Passage {id: row.id})
CALL db.create.setNodeVectorProperty(n, $embedding, row.vector)
