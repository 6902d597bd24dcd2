// Entities that titles name and whose names look like misspelt ones; ties are cut as in `retrieve/fulltext`.
// mode: read
// $index: STRING - the collection's index of entity names
// $queries: LIST<STRING> - Lucene queries, each word with ~1
// $limit: INTEGER = 20 - entities wanted for each
// -> rows: LIST<LIST<MAP>> - for each query its entities, best first: {id, name, normal, ntit (titles that bear it)}
UNWIND range(0, size($queries) - 1) AS i
CALL (i) {
  CALL db.index.fulltext.queryNodes($index, $queries[i], {limit: 5 * $limit + 1}) YIELD node, score
  WITH i, collect({node: node, score: score}) AS top
  CALL (i, top) {
    WITH * WHERE size(top) > 5 * $limit AND top[-1].score = top[-2].score
    CALL db.index.fulltext.queryNodes($index, $queries[i], {limit: 1000 * ($limit / 200 + 1)}) YIELD node, score WHERE score >= top[-1].score
    WITH node, score ORDER BY score DESC, node.id LIMIT 5 * $limit
    RETURN collect({node: node, score: score}) AS tied
  }
  UNWIND CASE WHEN size(tied) > 0 THEN tied ELSE top[..5 * $limit] END AS hit
  WITH hit.node AS e, hit.score AS score WHERE e.ntit > 0
  WITH e, score ORDER BY score DESC, e.id LIMIT $limit
  RETURN collect(e {.id, .name, .normal, .ntit}) AS entities
}
WITH i, entities ORDER BY i
RETURN collect(entities) AS rows
