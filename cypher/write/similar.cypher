// Replace the nearest neighbours of passages.
// mode: write
// $rows: LIST<MAP> - {id (of a passage), floor, neighbours: [{id, score}]}
UNWIND $rows AS row
MATCH (p:Passage {id: row.id})
SET p.similar_floor = row.floor
WITH p, row
CALL (p) { MATCH (p)-[s:SIMILAR]->() DELETE s }
UNWIND row.neighbours AS neighbour
MATCH (q:Passage {id: neighbour.id})
CREATE (p)-[:SIMILAR {score: neighbour.score, via: 'embedding'}]->(q)
