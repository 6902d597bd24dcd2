// title: Triples: by embedding
// Dense search over triples, with the passages that state them. `kgrag cypher --params "question"` makes the vector.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $vector: LIST<FLOAT> = null - embedding of the question; null: the embedding of the passage that fits $query best
// $query: STRING = 'ship polar ice' - words, for want of a vector
// $candidates: INTEGER = 200 - candidates requested from the index
// $limit: INTEGER = 25 - rows wanted
// -> score: FLOAT - (1 + cosine to the question) / 2
// -> fact: STRING - the triple
// -> title: STRING - title of the passage that states it
// -> path: PATH - passage, triple and object, to be drawn
// -> ends: PATH - subject, triple, object
MATCH (c:Kgrag:Collection {id: $collection})
CALL (c) {
  CALL db.index.fulltext.queryNodes('passage_text_c' + c.number, $query, {limit: 1}) YIELD node
  RETURN coalesce($vector, head(collect(node[c.embedding]))) AS wanted
}
WITH c, wanted WHERE wanted IS NOT NULL
CALL db.index.vector.queryNodes('triple_' + c.embedding + '_c' + c.number, toInteger($candidates), wanted) YIELD node AS t
WITH t, vector.similarity.cosine(t[c.embedding], wanted) AS score ORDER BY score DESC, t.id LIMIT toInteger($limit)
MATCH path = (p:Passage)-[:STATES]->(t)-[:OBJECT]->(:Entity)
MATCH ends = (:Entity)<-[:SUBJECT]-(t)-[:OBJECT]->(:Entity)
RETURN round(score, 3) AS score, t.text AS fact, p.name AS title, path, ends ORDER BY score DESC, fact
