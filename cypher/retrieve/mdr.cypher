// MDR, one hop: for each chain of passages those nearest to its vector; the index over-fetches, exact cosines decide.
// mode: read
// $index: STRING - the collection's vector index
// $embedding: STRING - property that holds the vector
// $chains: LIST<MAP> - {ids (of its passages), vector (of the question and these passages)}
// $candidates: INTEGER = 50 - over-fetch
// $branch: INTEGER = 3 - passages for each chain
// -> rows: LIST<LIST<MAP>> - for each chain, in their order, {id, name, score: (1 + cosine) / 2}, best first, ties by id
// source: KGP, appendix A.2.3, after MDR
UNWIND range(0, size($chains) - 1) AS number
WITH number, $chains[number] AS chain
CALL (chain) {
  CALL db.index.vector.queryNodes($index, $candidates, chain.vector) YIELD node
  WITH chain, node WHERE NOT node.id IN chain.ids
  WITH node, vector.similarity.cosine(node[$embedding], chain.vector) AS score
  ORDER BY score DESC, node.id LIMIT $branch
  RETURN collect({id: node.id, name: node.name, score: score}) AS near
}
WITH number, near ORDER BY number
RETURN collect(near) AS rows
