// BM25: the passages of a collection that match a Lucene query, best first, ties by id. Lucene cuts ties in the order they
// were written in: so more are asked for, and all where those do not reach beyond the ties.
// mode: read
// $index: STRING - the collection's full-text index
// $query: STRING - Lucene query, special characters escaped
// $limit: INTEGER = 10 - rows wanted
// $embedding: STRING = null - property that holds the vector
// $vector: LIST<FLOAT> = null - the question's vector
// -> hits: LIST<LIST<ANY>> - [passage id, BM25 score, (1 + cosine) / 2 or null]
CALL db.index.fulltext.queryNodes($index, $query, {limit: $limit + 50}) YIELD node, score
WITH collect({node: node, score: score}) AS found
CALL (found) {
  WITH found WHERE size(found) < $limit + 50 OR found[-1].score < found[$limit - 1].score
  UNWIND found AS hit
  RETURN hit.node AS node, hit.score AS score
  UNION ALL
  WITH found WHERE size(found) = $limit + 50 AND found[-1].score = found[$limit - 1].score
  CALL db.index.fulltext.queryNodes($index, $query) YIELD node, score WHERE score >= found[-1].score
  RETURN node, score
}
WITH node, node.id AS id, score ORDER BY score DESC, id LIMIT $limit
RETURN collect([id, score, vector.similarity.cosine(node[$embedding], $vector)]) AS hits
