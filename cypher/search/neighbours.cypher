// Approximate nearest neighbours of passages, scored exactly: for collections too large for exact search.
// mode: read
// $ids: LIST<STRING> - passage ids
// $index: STRING - vector index
// $embedding: STRING - property that holds the vector
// $candidates: INTEGER - over-fetch
// $k: INTEGER - neighbours wanted
// -> id: STRING - passage id
// -> neighbours: LIST<MAP> - {id, score, floor} best first; floor: the score of that passage's own last neighbour
UNWIND $ids AS id
MATCH (p:Passage {id: id})
CALL (p) {
  CALL db.index.vector.queryNodes($index, $candidates, p[$embedding]) YIELD node
  WITH p, node WHERE node <> p
  WITH node, round(vector.similarity.cosine(node[$embedding], p[$embedding]), 6) AS score
  ORDER BY score DESC, node.id
  RETURN collect({id: node.id, score: score, floor: node.similar_floor}) AS neighbours
}
RETURN id, neighbours[0..$k] + [n IN neighbours[$k..] WHERE n.score > coalesce(n.floor, -1)] AS neighbours
