// Add members to summaries that exist.
// mode: write
// label: embedded
// $rows: LIST<MAP> - {member (node id), ways: [{summary (id), weight}]}
UNWIND $rows AS row
MATCH (n:Kgrag:{label} {id: row.member})
UNWIND row.ways AS way
MATCH (s:Kgrag:Summary {id: way.summary})
MERGE (s)-[r:SUMMARISES]->(n) SET r.weight = way.weight
