// HippoRAG 2, query to triple: the facts nearest to the question, each once however many passages state it.
// mode: read
// $index: STRING - the collection's vector index of triples
// $collection: STRING - its name: before its first triple it has no such index
// $embedding: STRING - property that holds vectors
// $vector: LIST<FLOAT> - the question's vector
// $candidates: INTEGER = 200 - over-fetch of the vector index
// $limit: INTEGER = 5 - facts wanted
// -> facts: LIST<MAP> - {subject, predicate, object, text, cosine, entities: [{element, name}] (subject, object)}, best first
// -> lowest: FLOAT - the least cosine of any triple, as the index finds it for the opposite vector; 0 without triples
WITH EXISTS { (:Triple {collection: $collection}) } AS stated
CALL (stated) {
  WITH * WHERE stated
  CALL db.index.vector.queryNodes($index, $candidates, $vector) YIELD node AS t
  WITH t, vector.similarity.cosine(t[$embedding], $vector) AS score ORDER BY score DESC, t.id
  WITH toLower(t.text) AS fact, head(collect(t)) AS t, max(score) AS score ORDER BY score DESC, t.id LIMIT $limit
  RETURN collect({subject: t.subject, predicate: t.predicate, object: t.object, text: t.text, cosine: 2 * score - 1,
    entities: [(t)-[:SUBJECT|OBJECT]->(e:Entity) | {element: elementId(e), name: e.name}]}) AS facts
}
CALL (stated) {
  WITH * WHERE stated
  CALL db.index.vector.queryNodes($index, $candidates, [x IN $vector | -x]) YIELD node AS t
  RETURN coalesce(2 * min(vector.similarity.cosine(t[$embedding], $vector)) - 1, 0.0) AS lowest
}
RETURN facts, lowest
