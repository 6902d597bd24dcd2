// Personalised PageRank, reset: the triples and the passages nearest to the question, scored exactly. Passages without an
// ordinal, whose documents are being written, are skipped.
// mode: read
// $triple_index: STRING - the collection's vector index of triples
// $passage_index: STRING - the collection's vector index of passages
// $collection: STRING - its name: before its first triple it has no index of them
// $embedding: STRING - property that holds vectors
// $vector: LIST<FLOAT> - the question's vector
// $candidates: INTEGER = 100 - over-fetch of the vector indexes
// $few: INTEGER = 20000 - passages of a collection up to which the index of passages is asked for more: see `retrieve/vector`
// $triples: INTEGER = 5 - triples wanted
// $passages: INTEGER = 30 - passages wanted
// -> triples: LIST<MAP> - {text, score, entities: [{id, name}] (subject, object)}, best first
// -> passages: LIST<MAP> - {id, score, stated: whether it states triples, those of rules apart, which are few}, best first; scores are (1 + cosine) / 2
CALL () {
  WITH 1 AS one WHERE EXISTS { (:Triple {collection: $collection}) }
  CALL db.index.vector.queryNodes($triple_index, $candidates, $vector) YIELD node AS t
  WITH t, vector.similarity.cosine(t[$embedding], $vector) AS score ORDER BY score DESC, t.id LIMIT $triples
  RETURN collect({text: t.text, score: score, entities: [(t)-[:SUBJECT|OBJECT]->(e:Entity) | e {.id, .name}]}) AS triples
}
CALL () {
  OPTIONAL MATCH (c:Kgrag:Collection {id: $collection})
  WITH coalesce(c.passages, 0) AS passages, CASE WHEN c.passages <= $few THEN $candidates + 700 ELSE $candidates END AS reach,
       CASE WHEN c.passages <= $few THEN $passages + 50 ELSE $candidates END AS exact
  CALL db.index.vector.queryNodes($passage_index, reach, $vector) YIELD node
  WITH passages, reach, exact, collect(node) AS near
  CALL (passages, reach, exact, near) {
    UNWIND CASE WHEN any(p IN near[0..exact] WHERE p.ordinal IS NULL) THEN near ELSE near[0..exact] END AS p
    RETURN p
    UNION ALL
    UNWIND CASE WHEN size(near) < reach AND size(near) < passages AND passages <= $few THEN [$collection] ELSE [] END AS unreached // else the planner looks up all passages first
    MATCH (p:Passage {collection: unreached}) WHERE p[$embedding] IS NOT NULL
    WITH near, collect(p) AS all
    UNWIND near + all AS p
    WITH p, count(*) AS times WHERE times = 1
    RETURN p
  }
  WITH p, vector.similarity.cosine(p[$embedding], $vector) AS score WHERE p.ordinal IS NOT NULL
  WITH p, score ORDER BY score DESC, p.id LIMIT $passages
  RETURN collect({id: p.id, score: score, stated: EXISTS { (p)-[:STATES]->(t) WHERE t.given IS NULL OR NOT t.extracted STARTS WITH 'rules' }}) AS passages
}
RETURN triples, passages
