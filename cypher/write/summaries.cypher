// Write new summaries without their texts, each with its edges.
// mode: write
// label: embedded
// $rows: LIST<MAP> - {id, members: [{id, weight}]}
// $collection: STRING - name of the collection
// $labels: LIST<STRING> - second label of the summaries
// $level: INTEGER - their level
UNWIND $rows AS row
MERGE (s:Kgrag:Summary {id: row.id})
  ON CREATE SET s.collection = $collection, s.level = $level, s.name = '', s.title = '', s.text = ''
SET s:$($labels)
WITH s, row
UNWIND row.members AS member
MATCH (n:Kgrag:{label} {id: member.id})
MERGE (s)-[r:SUMMARISES]->(n) SET r.weight = member.weight
