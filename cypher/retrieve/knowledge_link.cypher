// Facts of a knowledge graph that share most words with some texts; ties are cut as in `retrieve/fulltext`.
// mode: read
// $index: STRING - the full-text index over its facts
// $queries: LIST<STRING> - Lucene queries, special characters escaped; an empty one finds nothing
// $limit: INTEGER = 1 - facts for each
// -> rows: LIST<LIST<MAP>> - for each text its facts: {id, text, subject, object, score (BM25)}, best first
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
  WITH hit.node AS t, hit.score AS score ORDER BY score DESC, t.id
  RETURN collect(t {.id, .text, .subject, .object, score: score}) AS facts
}
WITH number, facts ORDER BY number
RETURN collect(facts) AS rows
