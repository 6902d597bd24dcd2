// Write the reports of communities.
// mode: write
// $rows: LIST<MAP> - {id, name, title, text, rests_on, vector}
// $embedding: STRING - property that holds vectors
// $made: STRING - what made them
UNWIND $rows AS row
MATCH (c:Kgrag:Community {id: row.id})
SET c.name = row.name, c.title = row.title, c.text = row.text, c.rests_on = row.rests_on, c.made = $made, c.stale = null
WITH c, row WHERE row.vector IS NOT NULL
CALL db.create.setNodeVectorProperty(c, $embedding, row.vector)
