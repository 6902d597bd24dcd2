// title: Triples: beam search for a question
// Begins with the triples nearest to the question and goes on, twice, to triples that share an entity with the last one;
// kept are the chains whose triples are nearest to the question on the mean. Entities of more triples than $cap lead
// nowhere.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $vector: LIST<FLOAT> = null - embedding of the question; null: that of the passage which fits $query best
// $query: STRING = 'ship polar ice' - words, for want of a vector
// $beams: INTEGER = 10 - chains that are kept after each step
// $cap: INTEGER = 50 - triples that an entity in between may have
// -> score: FLOAT - mean cosine to the question
// -> facts: LIST<STRING> - the three triples of the chain in words
// -> chain: LIST<NODE> - triple, entity, triple, entity, triple, to be drawn
// source: GEAR, section 4.2, Algorithm 1
MATCH (c:Collection {name: $collection})
CALL (c) {
  CALL db.index.fulltext.queryNodes('passage_text_c' + c.number, $query, {limit: 1}) YIELD node
  RETURN coalesce($vector, head(collect(node[c.embedding]))) AS wanted
}
WITH c, wanted WHERE wanted IS NOT NULL
CALL db.index.vector.queryNodes('triple_' + c.embedding + '_c' + c.number, 200, wanted) YIELD node AS t
WITH c, wanted, t, 2 * vector.similarity.cosine(t[c.embedding], wanted) - 1 AS one
ORDER BY one DESC, t.id LIMIT toInteger($beams)
MATCH (t)-[:SUBJECT|OBJECT]->(e:Entity) WHERE COUNT { (e)<-[:SUBJECT|OBJECT]-() } <= $cap
MATCH (e)<-[:SUBJECT|OBJECT]-(u:Triple) WHERE u <> t
WITH c, wanted, t, u, one, head(collect(e)) AS e
WITH c, wanted, t, e, u, one + 2 * vector.similarity.cosine(u[c.embedding], wanted) - 1 AS two
ORDER BY two DESC, t.id, u.id LIMIT toInteger(2 * $beams) // each pair may be there both ways round
MATCH (u)-[:SUBJECT|OBJECT]->(f:Entity) WHERE COUNT { (f)<-[:SUBJECT|OBJECT]-() } <= $cap
MATCH (f)<-[:SUBJECT|OBJECT]-(v:Triple) WHERE v <> t AND v <> u
CALL (t, u, v) {
  UNWIND [t.id, u.id, v.id] AS id
  WITH id ORDER BY id
  RETURN collect(id) AS ids
}
WITH c, wanted, ids, head(collect(t)) AS t, head(collect(e)) AS e, head(collect(u)) AS u, head(collect(f)) AS f, head(collect(v)) AS v, head(collect(two)) AS two
WITH t, e, u, f, v, two + 2 * vector.similarity.cosine(v[c.embedding], wanted) - 1 AS three
ORDER BY three DESC, t.id, u.id, v.id LIMIT toInteger($beams)
RETURN round(three / 3, 3) AS score, [t.text, u.text, v.text] AS facts, [t, e, u, f, v] AS chain ORDER BY score DESC, facts[0]
