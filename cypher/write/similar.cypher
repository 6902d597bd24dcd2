// Replace the nearest neighbours of nodes: passages, or entities by their names.
// mode: write
// label: embedded
// $rows: LIST<MAP> - {id, floor, neighbours: [{id, score}]}
UNWIND $rows AS row
MATCH (n:Kgrag:{label} {id: row.id})
SET n.similar_floor = row.floor
WITH n, row
CALL (n) { MATCH (n)-[s:SIMILAR]->() DELETE s }
UNWIND row.neighbours AS neighbour
MATCH (m:Kgrag:{label} {id: neighbour.id})
CREATE (n)-[:SIMILAR {score: neighbour.score, via: 'embedding'}]->(m)
