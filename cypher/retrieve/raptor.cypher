// RAPTOR, collapsed tree: the passages and the summaries that are nearest to a question; of each such summary the passages
// under it that are.
// mode: read
// $passage_index: STRING - the collection's vector index of passages
// $summary_index: STRING - the one of summaries
// $collection: STRING - its name: before its first summary it has no index of them
// $embedding: STRING - property that holds vectors
// $vector: LIST<FLOAT> - the question's vector
// $candidates: INTEGER = 120 - over-fetch of both
// $passages: INTEGER = 120 - nearest passages
// $summaries: INTEGER = 10 - nearest summaries
// $leaves: INTEGER = 10 - passages of each, the nearest to the question
// $most: INTEGER = 200 - members that a summary may have, those of its members included
// -> rows: LIST<MAP> - {id, score ((1 + cosine) / 2), above: the summaries that led to it, {id, name, title, text, score}}
CALL () {
  CALL db.index.vector.queryNodes($passage_index, $candidates, $vector) YIELD node AS x
  WITH x, vector.similarity.cosine(x[$embedding], $vector) AS score ORDER BY score DESC, x.id LIMIT $passages
  RETURN x, score, null AS above
  UNION ALL
  WITH 1 AS one WHERE EXISTS { (:Summary {collection: $collection}) }
  CALL db.index.vector.queryNodes($summary_index, CASE WHEN $summaries > 0 THEN $candidates ELSE 1 END, $vector) YIELD node AS s
  WITH s, vector.similarity.cosine(s[$embedding], $vector) AS near ORDER BY near DESC, s.id LIMIT $summaries
  CALL (s) {
    MATCH (s)-[:SUMMARISES*1..5]->(m)
    WITH m LIMIT $most + 1
    WITH collect(DISTINCT m) AS members
    WITH members WHERE size(members) <= $most
    UNWIND members AS x
    WITH x WHERE x:Passage AND x[$embedding] IS NOT NULL
    WITH x, vector.similarity.cosine(x[$embedding], $vector) AS score ORDER BY score DESC, x.id LIMIT $leaves
    RETURN x, score
  }
  RETURN x, score, s {.id, .name, .title, .text, score: near} AS above
}
WITH x.id AS id, max(score) AS score, collect(above) AS above
RETURN collect({id: id, score: score, above: above}) AS rows
