// Triple beam search, first step: the initial triples nearest to the question, each the beginning of a beam. Initial
// triples are the triples that passages state, and the named ones.
// mode: read
// $passages: LIST<STRING> - passage ids, all of whose triples are initial
// $triples: LIST<STRING> - triple ids
// $embedding: STRING - property that holds vectors
// $vector: LIST<FLOAT> - the question's vector
// $beams: INTEGER = 10 - how many begin
// -> triples: LIST<MAP> - {id, text, passage, title, cosine (to the question)}, best first, ties by id
// source: GEAR, section 4.2, Algorithm 1, lines 1 to 5
CALL () {
  UNWIND $passages AS id MATCH (:Kgrag:Passage {id: id})-[:STATES]->(t:Triple) RETURN t
  UNION
  UNWIND $triples AS id MATCH (t:Kgrag:Triple {id: id}) RETURN t
}
WITH t, 2 * vector.similarity.cosine(t[$embedding], $vector) - 1 AS cosine WHERE cosine IS NOT NULL // of a triple without a vector
WITH t, cosine ORDER BY cosine DESC, t.id LIMIT $beams
MATCH (p:Passage)-[:STATES]->(t)
WITH t, cosine, p ORDER BY cosine DESC, t.id
RETURN collect({id: t.id, text: t.text, passage: p.id, title: p.name, cosine: cosine}) AS triples
