// BM25: the passages of a collection that match a Lucene query, best first, ties by id. Lucene cuts ties in the order they
// were written in. So the statement asks for one more, and for a thousand (beyond that, for the next full thousand) if that one
// is as good as the last. If more are as good, those count that Lucene gives first. If there are fewer than $limit and
// something was removed, Lucene may have found that in place of others: the statement then asks for so many more.
// mode: read
// $collection: STRING - name of the collection
// $index: STRING - its full-text index
// $query: STRING - Lucene query, special characters escaped
// $limit: INTEGER = 10 - rows wanted
// $embedding: STRING = '' - property that holds the vector; empty: no cosines
// $vector: LIST<FLOAT> = [] - the question's vector; empty: no cosines
// -> hits: LIST<LIST<ANY>> - [passage id, BM25 score, (1 + cosine) / 2 or null]
CALL db.index.fulltext.queryNodes($index, $query, {limit: $limit + 1}) YIELD node, score
WITH node.id AS id, score, vector.similarity.cosine(node[$embedding], $vector) AS nearness ORDER BY score DESC, id
WITH collect([id, score, nearness]) AS top
CALL (top) {
  OPTIONAL MATCH (c:Kgrag:Collection {id: $collection}) WHERE size(top) <= $limit
  WITH top, coalesce(c.stale, 0) AS removed
  WITH * WHERE removed > 0 OR (size(top) > $limit AND top[-1][1] = top[-2][1])
  CALL db.index.fulltext.queryNodes($index, $query, {limit: 1000 * ($limit / 1000 + 1) + removed}) YIELD node, score
    WHERE size(top) <= $limit OR score >= top[-1][1]
  WITH node, node.id AS id, score ORDER BY score DESC, id LIMIT $limit
  RETURN collect([id, score, vector.similarity.cosine(node[$embedding], $vector)]) AS tied
}
RETURN CASE WHEN size(tied) > 0 THEN tied ELSE top[..$limit] END AS hits
