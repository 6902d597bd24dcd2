// Write vectors of existing Triples.
// mode: write
// $rows: LIST<MAP> - {id, vector}
// $embedding: STRING - property that takes them
UNWIND $rows AS row
MATCH (n:Triple {id: row.id})
CALL db.create.setNodeVectorProperty(n, $embedding, row.vector)
