// Tie names as one entity's.
// mode: write
// $rows: LIST<MAP> - {one (entity id, the smaller one), other, score, evidence, by}
UNWIND $rows AS row
MATCH (a:Kgrag:Entity {id: row.one}), (b:Kgrag:Entity {id: row.other})
MERGE (a)-[s:SAME_AS]->(b)
SET s.score = row.score, s.evidence = row.evidence, s.by = row.by
