// Entities that titles name and whose names look like misspelt ones.
// mode: read
// $index: STRING - the collection's index of entity names
// $queries: LIST<STRING> - Lucene queries, each word with ~1
// $limit: INTEGER = 20 - entities wanted for each
// -> found: LIST<LIST<MAP>> - for each query its entities, best first: {id, name, normal, ntit (titles that bear it)}
UNWIND range(0, size($queries) - 1) AS i
CALL (i) {
  CALL db.index.fulltext.queryNodes($index, $queries[i], {limit: 5 * $limit}) YIELD node AS e, score
  WITH e, score WHERE e.ntit > 0
  WITH e, score ORDER BY score DESC, e.id LIMIT $limit
  RETURN collect(e {.id, .name, .normal, .ntit}) AS entities
}
WITH i, entities ORDER BY i
RETURN collect(entities) AS found
