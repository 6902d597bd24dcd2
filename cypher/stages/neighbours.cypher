// Approximate nearest neighbours of nodes, scored exactly: for collections too large for exact search.
// mode: read
// label: embedded
// $ids: LIST<STRING> - ids of the nodes
// $index: STRING - vector index
// $embedding: STRING - property that holds the vector
// $candidates: INTEGER - over-fetch
// $k: INTEGER - neighbours wanted
// -> id: STRING - id of a node; there is no row of one without a vector
// -> neighbours: LIST<MAP> - {id, score, floor} best first; floor: the score of that node's own last neighbour
UNWIND $ids AS id
MATCH (n:Kgrag:{label} {id: id}) WHERE n[$embedding] IS NOT NULL
CALL (n) {
  CALL db.index.vector.queryNodes($index, $candidates, n[$embedding]) YIELD node
  WITH n, node WHERE node <> n
  WITH node, round(vector.similarity.cosine(node[$embedding], n[$embedding]), 6) AS score
  ORDER BY score DESC, node.id
  RETURN collect({id: node.id, score: score, floor: node.similar_floor}) AS neighbours
}
RETURN id, neighbours[0..$k] + [m IN neighbours[$k..] WHERE m.score > coalesce(m.floor, -1)] AS neighbours
