// Personalised PageRank, reset: the triples and the passages nearest to the question, scored exactly.
// mode: read
// $triple_index: STRING - the collection's vector index of triples
// $passage_index: STRING - that of its passages
// $collection: STRING - its name: before its first triple it has no index of them
// $embedding: STRING - property that holds vectors
// $vector: LIST<FLOAT> - the question's vector
// $candidates: INTEGER = 100 - over-fetch of the vector indexes
// $triples: INTEGER = 5 - triples wanted
// $passages: INTEGER = 30 - passages wanted
// -> triples: LIST<MAP> - {text, score, entities: [{id, name}] (subject, object)}, best first
// -> passages: LIST<MAP> - {id, score, stated: whether it states triples}, best first; scores are (1 + cosine) / 2
CALL () {
  WITH 1 AS one WHERE EXISTS { (:Triple {collection: $collection}) }
  CALL db.index.vector.queryNodes($triple_index, $candidates, $vector) YIELD node AS t
  WITH t, vector.similarity.cosine(t[$embedding], $vector) AS score ORDER BY score DESC, t.id LIMIT $triples
  RETURN collect({text: t.text, score: score, entities: [(t)-[:SUBJECT|OBJECT]->(e:Entity) | e {.id, .name}]}) AS triples
}
CALL () {
  CALL db.index.vector.queryNodes($passage_index, $candidates, $vector) YIELD node AS p
  WITH p, vector.similarity.cosine(p[$embedding], $vector) AS score ORDER BY score DESC, p.id LIMIT $passages
  RETURN collect({id: p.id, score: score, stated: EXISTS { (p)-[:STATES]->() }}) AS passages
}
RETURN triples, passages
