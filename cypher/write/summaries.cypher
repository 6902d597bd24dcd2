// Write summaries, new ones with their edges.
// mode: write
// label: embedded
// $rows: LIST<MAP> - {id, name, title, text, rests_on, vector, members: [{id, weight}]}
// $collection: STRING - name of the collection
// $labels: LIST<STRING> - second label of the summaries
// $embedding: STRING - property that holds vectors
// $level: INTEGER - their level
// $made: STRING - what made their texts
UNWIND $rows AS row
MERGE (s:Kgrag:Summary {id: row.id})
  ON CREATE SET s.collection = $collection, s.level = $level
SET s:$($labels), s.name = row.name, s.title = row.title, s.text = row.text, s.rests_on = row.rests_on, s.made = $made
WITH s, row
CALL (s, row) {
  WITH s, row WHERE row.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(s, $embedding, row.vector)
}
CALL (s, row) {
  UNWIND row.members AS member
  MATCH (n:{label} {id: member.id})
  MERGE (s)-[r:SUMMARISES]->(n) SET r.weight = member.weight
}
