// Replace the entities whose names are nearest to those of others.
// mode: write
// $rows: LIST<MAP> - {id (of an entity), floor, neighbours: [{id, score}]}
UNWIND $rows AS row
MATCH (e:Entity {id: row.id})
SET e.similar_floor = row.floor
WITH e, row
CALL (e) { MATCH (e)-[s:SIMILAR]->() DELETE s }
UNWIND row.neighbours AS neighbour
MATCH (f:Entity {id: neighbour.id})
CREATE (e)-[:SIMILAR {score: neighbour.score, via: 'embedding'}]->(f)
