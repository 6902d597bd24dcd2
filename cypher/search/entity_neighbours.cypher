// Approximate nearest neighbours of entities, scored exactly: for collections too large for exact search.
// mode: read
// $ids: LIST<STRING> - entity ids
// $index: STRING - vector index
// $embedding: STRING - property that holds the vector
// $candidates: INTEGER - over-fetch
// $k: INTEGER - neighbours wanted
// -> id: STRING - entity id
// -> neighbours: LIST<MAP> - {id, score, floor} best first; floor: the score of that entity's own last neighbour
UNWIND $ids AS id
MATCH (e:Entity {id: id})
CALL (e) {
  CALL db.index.vector.queryNodes($index, $candidates, e[$embedding]) YIELD node
  WITH e, node WHERE node <> e
  WITH node, round(vector.similarity.cosine(node[$embedding], e[$embedding]), 6) AS score
  ORDER BY score DESC, node.id
  RETURN collect({id: node.id, score: score, floor: node.similar_floor}) AS neighbours
}
RETURN id, neighbours[0..$k] + [n IN neighbours[$k..] WHERE n.score > coalesce(n.floor, -1)] AS neighbours
