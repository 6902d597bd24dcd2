// Write vectors of existing nodes.
// mode: write
// label: embedded
// $rows: LIST<MAP> - {id, vector}
// $embedding: STRING - property that takes them
UNWIND $rows AS row
MATCH (n:Kgrag:{label} {id: row.id})
CALL db.create.setNodeVectorProperty(n, $embedding, row.vector)
