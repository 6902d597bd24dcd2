// BM25: the passages of a collection that match a Lucene query, best first, ties by id. Lucene cuts ties in the order they
// were written in: so one more is asked for, and all if that is as good as the last; or if there are fewer and something was
// removed, which Lucene may have found in place of others.
// mode: read
// $collection: STRING - name of the collection
// $index: STRING - its full-text index
// $query: STRING - Lucene query, special characters escaped
// $limit: INTEGER = 10 - rows wanted
// $embedding: STRING = null - property that holds the vector
// $vector: LIST<FLOAT> = null - the question's vector
// -> hits: LIST<LIST<ANY>> - [passage id, BM25 score, (1 + cosine) / 2 or null]
CALL db.index.fulltext.queryNodes($index, $query, {limit: $limit + 1}) YIELD node, score
WITH node.id AS id, score, vector.similarity.cosine(node[$embedding], $vector) AS nearness ORDER BY score DESC, id
WITH collect([id, score, nearness]) AS top
CALL (top) {
  WITH * WHERE (size(top) > $limit AND top[-1][1] = top[-2][1])
    OR (size(top) <= $limit AND EXISTS { MATCH (c:Collection {name: $collection}) WHERE c.stale > 0 })
  CALL db.index.fulltext.queryNodes($index, $query) YIELD node, score WHERE size(top) <= $limit OR score >= top[-1][1]
  WITH node, node.id AS id, score ORDER BY score DESC, id LIMIT $limit
  RETURN collect([id, score, vector.similarity.cosine(node[$embedding], $vector)]) AS tied
}
RETURN CASE WHEN size(tied) > 0 THEN tied ELSE top[..$limit] END AS hits
