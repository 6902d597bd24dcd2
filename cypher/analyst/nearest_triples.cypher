// title: Triples: by embedding
// Dense search over triples, with the passages that state them. `kgrag params "question"` makes the vector.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $vector: LIST<FLOAT> = null - embedding of the question; null: that of the passage which fits $query best
// $query: STRING = 'ship polar ice' - words, for want of a vector
// $candidates: INTEGER = 200 - what the index is asked for
// $limit: INTEGER = 25 - rows wanted
// -> cosine: FLOAT - cosine to the question
// -> fact: STRING - the triple
// -> title: STRING - title of the passage that states it
// -> path: PATH - passage, triple, object, to be drawn
MATCH (c:Collection {name: $collection})
CALL (c) {
  CALL db.index.fulltext.queryNodes('passage_text_c' + c.number, $query, {limit: 1}) YIELD node
  RETURN coalesce($vector, head(collect(node[c.embedding]))) AS wanted
}
WITH c, wanted WHERE wanted IS NOT NULL
CALL db.index.vector.queryNodes('triple_' + c.embedding + '_c' + c.number, toInteger($candidates), wanted) YIELD node AS t
WITH t, 2 * vector.similarity.cosine(t[c.embedding], wanted) - 1 AS cosine ORDER BY cosine DESC, t.id LIMIT toInteger($limit)
MATCH path = (p:Passage)-[:STATES]->(t)-[:OBJECT]->(:Entity)
RETURN round(cosine, 3) AS cosine, t.text AS fact, p.name AS title, path ORDER BY cosine DESC, fact
