// Write the texts of summaries, or the reports of communities.
// mode: write
// label: embedded
// $rows: LIST<MAP> - {id, name, title, text, rests_on, vector}
// $embedding: STRING - property that holds vectors
// $made: STRING - what made them
UNWIND $rows AS row
MATCH (n:Kgrag:{label} {id: row.id})
SET n.name = row.name, n.title = row.title, n.text = row.text, n.rests_on = row.rests_on, n.made = $made, n.stale = null
WITH n, row WHERE row.vector IS NOT NULL
CALL db.create.setNodeVectorProperty(n, $embedding, row.vector)
