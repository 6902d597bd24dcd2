// title: Passages: by embedding
// Dense search: the vector index gives candidates, exact cosines decide. `kgrag cypher --params "question"` makes the vector.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $vector: LIST<FLOAT> = null - embedding of the question; null: the embedding of the passage that fits $query best
// $query: STRING = 'ship polar ice' - words, for want of a vector
// $candidates: INTEGER = 200 - candidates requested from the index
// $limit: INTEGER = 25 - rows wanted
// -> score: FLOAT - (1 + cosine to the question) / 2
// -> title: STRING - title
// -> text: STRING - the passage
// -> passage: NODE - the same, to be drawn
MATCH (c:Kgrag:Collection {id: $collection})
CALL (c) {
  CALL db.index.fulltext.queryNodes('passage_text_c' + c.number, $query, {limit: 1}) YIELD node
  RETURN coalesce($vector, head(collect(node[c.embedding]))) AS wanted
}
WITH c, wanted WHERE wanted IS NOT NULL
CALL db.index.vector.queryNodes('passage_' + c.embedding + '_c' + c.number, toInteger($candidates), wanted) YIELD node AS p
WITH p, vector.similarity.cosine(p[c.embedding], wanted) AS score ORDER BY score DESC, p.id LIMIT toInteger($limit)
RETURN round(score, 3) AS score, p.name AS title, p.text AS text, p AS passage ORDER BY score DESC, title
