// Find names with some words; the last word may be incomplete. Names with exactly these words come first, then names by
// the number of passages.
// mode: read
// $index: STRING - full-text index of the names
// $query: STRING - the words, as a Lucene query
// $reach: INTEGER - names that are looked at
// $limit: INTEGER - names wanted
// -> name: STRING - the name as it is written
// -> passages: INTEGER - passages that mention it
CALL db.index.fulltext.queryNodes($index, $query, {limit: $reach + 1}) YIELD node, score
WITH collect({node: node, score: score}) AS top
CALL (top) {
  WITH * WHERE size(top) > $reach AND top[-1].score = top[-2].score
  CALL db.index.fulltext.queryNodes($index, $query) YIELD node, score WHERE score >= top[-1].score
  RETURN collect({node: node, score: score}) AS tied
}
UNWIND CASE WHEN size(tied) > 0 THEN tied ELSE top END AS hit
WITH hit.node AS e, hit.score AS score
RETURN e.name AS name, e.df AS passages ORDER BY score DESC, passages DESC, name LIMIT $limit
