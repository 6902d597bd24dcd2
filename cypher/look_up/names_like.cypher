// Names that have some words, the last of which may be only begun: those with the very words first, then those of most
// passages.
// mode: read
// $index: STRING - full-text index of the names
// $query: STRING - the words, as a Lucene query
// $reach: INTEGER - names that are looked at besides
// $limit: INTEGER - names wanted
// -> name: STRING - the name as it is written
// -> passages: INTEGER - passages that mention it
CALL db.index.fulltext.queryNodes($index, $query, {limit: $limit + $reach}) YIELD node, score
WITH collect({node: node, score: score}) AS found
CALL (found) {
  WITH found WHERE size(found) < $limit + $reach OR found[-1].score < found[$limit - 1].score
  UNWIND found AS hit
  RETURN hit.node AS node, hit.score AS score
  UNION ALL
  WITH found WHERE size(found) = $limit + $reach AND found[-1].score = found[$limit - 1].score
  CALL db.index.fulltext.queryNodes($index, $query) YIELD node, score WHERE score >= found[-1].score
  RETURN node, score
}
WITH node AS e, score
RETURN e.name AS name, e.df AS passages ORDER BY score DESC, passages DESC, name LIMIT $limit
