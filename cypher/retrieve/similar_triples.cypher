// The triples most similar to some texts, by their vectors and by their words, with the passages that state them.
// Ties are cut as in `retrieve/fulltext`.
// mode: read
// $vector_index: STRING - name of the collection's vector index over triples
// $text_index: STRING - name of its full-text index over triples
// $collection: STRING - its name: before its first triple it has no such indexes
// $embedding: STRING - property that holds the vector
// $queries: LIST<MAP> - {vector, words: the text with special characters escaped, empty to leave words out}
// $candidates: INTEGER - candidates of the vector index that are scored exactly
// $limit: INTEGER - triples for each text
// -> near: LIST<LIST<MAP>> - for each text the nearest: {id, text, passage, title, score: (1 + cosine) / 2}, best first
// -> worded: LIST<LIST<MAP>> - for each text the triples that share most words: the same with their cosine, best first
UNWIND range(0, size($queries) - 1) AS number
WITH number, $queries[number].vector AS vector, $queries[number].words AS words,
     EXISTS { (:Triple {collection: $collection}) } AS stated
CALL (vector, stated) {
  WITH * WHERE stated
  CALL db.index.vector.queryNodes($vector_index, $candidates, vector) YIELD node AS t
  WITH t, vector.similarity.cosine(t[$embedding], vector) AS score
  ORDER BY score DESC, t.id LIMIT $limit
  MATCH (p:Passage)-[:STATES]->(t)
  WITH t, p, score ORDER BY score DESC, t.id
  RETURN collect({id: t.id, text: t.text, passage: p.id, title: p.name, score: score}) AS near
}
CALL (vector, words, stated) {
  WITH * WHERE stated AND words <> ''
  CALL db.index.fulltext.queryNodes($text_index, words, {limit: $limit + 1}) YIELD node, score
  WITH vector, words, collect({node: node, score: score}) AS top
  CALL (vector, words, top) {
    WITH * WHERE size(top) > $limit AND top[-1].score = top[-2].score
    CALL db.index.fulltext.queryNodes($text_index, words, {limit: 1000 * ($limit / 1000 + 1)}) YIELD node, score WHERE score >= top[-1].score
    WITH node, score ORDER BY score DESC, node.id LIMIT $limit
    RETURN collect({node: node, score: score}) AS tied
  }
  UNWIND CASE WHEN size(tied) > 0 THEN tied ELSE top[..$limit] END AS hit
  WITH vector, hit.node AS t, hit.score AS rank WHERE t[$embedding] IS NOT NULL
  MATCH (p:Passage)-[:STATES]->(t)
  WITH t, p, rank, vector ORDER BY rank DESC, t.id
  RETURN collect({id: t.id, text: t.text, passage: p.id, title: p.name, score: vector.similarity.cosine(t[$embedding], vector)}) AS worded
}
WITH number, near, worded ORDER BY number
RETURN collect(near) AS near, collect(worded) AS worded
