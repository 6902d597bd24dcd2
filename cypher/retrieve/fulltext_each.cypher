// BM25 for several texts at once: the passages or facts of a collection that match each Lucene query, best first,
// ties by id, cut as in `retrieve/fulltext`.
// mode: read
// $index: STRING - the collection's full-text index
// $queries: LIST<STRING> - Lucene queries, special characters escaped; an empty one finds nothing
// $limit: INTEGER = 1 - passages or facts for each
// -> rows: LIST<LIST<MAP>> - for each query its hits: {id, name, text, subject, object, score (BM25)}; passages have no text and no subject
// source: Millions of GEAR-s, section 4.1, equation 3
UNWIND range(0, size($queries) - 1) AS number
CALL (number) {
  WITH number WHERE $queries[number] <> ''
  CALL db.index.fulltext.queryNodes($index, $queries[number], {limit: $limit + 1}) YIELD node, score
  WITH number, collect({node: node, score: score}) AS top
  CALL (number, top) {
    WITH * WHERE size(top) > $limit AND top[-1].score = top[-2].score
    CALL db.index.fulltext.queryNodes($index, $queries[number], {limit: 1000 * ($limit / 1000 + 1)}) YIELD node, score WHERE score >= top[-1].score
    WITH node, score ORDER BY score DESC, node.id LIMIT $limit
    RETURN collect({node: node, score: score}) AS tied
  }
  UNWIND CASE WHEN size(tied) > 0 THEN tied ELSE top[..$limit] END AS hit
  WITH hit.node AS node, hit.score AS score ORDER BY score DESC, node.id
  RETURN collect(node {.id, .name, .subject, .object, text: CASE WHEN node.subject IS NOT NULL THEN node.text END, score: score}) AS hits
}
WITH number, hits ORDER BY number
RETURN collect(hits) AS rows
