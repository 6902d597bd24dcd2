// Give passages their sentences in stems.
// mode: write
// $rows: LIST<MAP> - {id, sentences}
UNWIND $rows AS row
MATCH (p:Passage {id: row.id})
SET p.sentences = row.sentences
