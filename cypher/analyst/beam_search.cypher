// title: Triples: beam search for a question
// Starts with the triples nearest to the question, and extends each chain twice by a triple that shares an entity with the
// last one. Keeps the chains whose triples are nearest to the question on average. Skips entities with more triples than $cap.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $vector: LIST<FLOAT> = null - embedding of the question; null: the embedding of the passage that fits $query best
// $query: STRING = 'ship polar ice' - words, for want of a vector
// $beams: INTEGER = 10 - chains that are kept after each step
// $cap: INTEGER = 50 - triples that an entity in between may have
// -> score: FLOAT - (1 + cosine to the question) / 2, the mean of the triples
// -> facts: LIST<STRING> - the three triples of the chain in words
// -> chain: LIST<NODE> - triple, entity, triple, entity, triple, to be drawn
// source: after GEAR, section 4.2, without the discount of Algorithm 1; that is the retriever sync-ge
MATCH (c:Kgrag:Collection {id: $collection})
CALL (c) {
  CALL db.index.fulltext.queryNodes('passage_text_c' + c.number, $query, {limit: 1}) YIELD node
  RETURN coalesce($vector, head(collect(node[c.embedding]))) AS wanted
}
WITH c, wanted WHERE wanted IS NOT NULL
CALL (c, wanted) { // what is grouped below is not told apart by the vector
  CALL db.index.vector.queryNodes('triple_' + c.embedding + '_c' + c.number, 200, wanted) YIELD node AS t
  WITH t, vector.similarity.cosine(t[c.embedding], wanted) AS one
  ORDER BY one DESC, t.id LIMIT toInteger($beams)
  MATCH (t)-[:SUBJECT|OBJECT]->(e:Entity) WHERE COUNT { (e)<-[:SUBJECT|OBJECT]-() } <= $cap
  MATCH (e)<-[:SUBJECT|OBJECT]-(u:Triple) WHERE u <> t
  WITH t, u, one, head(collect(e)) AS e
  WITH t, e, u, one + vector.similarity.cosine(u[c.embedding], wanted) AS two
  ORDER BY two DESC, t.id, u.id LIMIT toInteger(2 * $beams) // each pair may be there both ways round
  MATCH (u)-[:SUBJECT|OBJECT]->(f:Entity) WHERE COUNT { (f)<-[:SUBJECT|OBJECT]-() } <= $cap
  MATCH (f)<-[:SUBJECT|OBJECT]-(v:Triple) WHERE v <> t AND v <> u
  WITH t, e, u, v, two, head(collect(f)) AS f
  WITH t, e, u, f, v, two, two + vector.similarity.cosine(v[c.embedding], wanted) AS three
  ORDER BY three DESC, two DESC, t.id, u.id, v.id LIMIT toInteger(6 * $beams) // as are three, in six orders
  CALL (t, u, v) {
    UNWIND [t.id, u.id, v.id] AS id
    WITH id ORDER BY id
    RETURN collect(id) AS ids
  }
  WITH t, e, u, f, v, ids, two, three ORDER BY two DESC, t.id, u.id, v.id
  WITH ids, head(collect([t, e, u, f, v])) AS chain, head(collect(three)) AS three
  RETURN chain, three
}
WITH chain, three ORDER BY three DESC, chain[0].id, chain[2].id, chain[4].id LIMIT toInteger($beams)
RETURN round(three / 3, 3) AS score, [chain[0].text, chain[2].text, chain[4].text] AS facts, chain ORDER BY score DESC, facts[0]
