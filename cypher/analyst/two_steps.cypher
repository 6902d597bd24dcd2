// title: Passages: two steps from a question
// The idea of kgrag's own walk in plain Cypher: the best passages for a question, and from them over the names that they
// mention, rare names first, to passages that mention the names, too, or have one as their title. The score adds the cosine
// to the question, the rarity of the name, and a bonus for its title. To be drawn.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $vector: LIST<FLOAT> = null - embedding of the question; null: the embedding of the passage that fits $query best
// $query: STRING = 'ship polar ice' - words of the question
// $seeds: INTEGER = 5 - passages to begin with, by words and as many by vector
// $cap: INTEGER = 50 - passages that a name may have to lead on
// $limit: INTEGER = 25 - rows wanted
// -> score: FLOAT - (1 + cosine to the question) / 2, + 0.15 rarity (0 to 1), + 0.15 if it is the name's title
// -> title: STRING - title of the passage that was reached
// -> via: STRING - the name that led there
// -> before: STRING - title of the passage that mentions the name
// -> text: STRING - the passage that was reached
// -> path: PATH - passage, name, passage (or its document)
MATCH (c:Kgrag:Collection {id: $collection})
CALL (c) {
  CALL db.index.fulltext.queryNodes('passage_text_c' + c.number, $query, {limit: toInteger($seeds)}) YIELD node
  WITH c, collect(node) AS worded
  RETURN worded, coalesce($vector, worded[0][c.embedding]) AS wanted
}
WITH c, worded, wanted WHERE wanted IS NOT NULL
CALL (c, worded, wanted) {
  CALL db.index.vector.queryNodes('passage_' + c.embedding + '_c' + c.number, toInteger($seeds), wanted) YIELD node AS p
  RETURN p
  UNION
  UNWIND worded AS p RETURN p
}
WITH c, wanted, collect(p) AS seeds
UNWIND seeds AS p
MATCH (p)-[m:MENTIONS]->(n:Entity) WHERE (n.df > 1 AND n.df <= $cap) OR n.ntit > 0
CALL (p, n) {
  MATCH (n)<-[:ABOUT]-(:Document)-[:HAS_PASSAGE]->(q:Passage) WHERE q <> p AND q.ordinal < 5 AND n.ntit <= $cap RETURN q, 0.15 AS bonus
  UNION ALL
  MATCH (n)<-[:ABOUT]-(q:Passage) WHERE q <> p AND n.ntit <= $cap RETURN q, 0.15 AS bonus
  UNION ALL
  MATCH (n)<-[:MENTIONS]-(q:Passage) WHERE q <> p AND n.df <= $cap RETURN q, 0.0 AS bonus
}
WITH c, wanted, q, p, n, bonus + 0.15 * log(toFloat(c.passages) / CASE WHEN n.df > 0 THEN n.df ELSE 1 END) / log(c.passages + 1.0) AS bridge
ORDER BY bridge DESC, n.id, p.id
WITH c, wanted, q, head(collect(p)) AS p, head(collect(n)) AS n, max(bridge) AS bridge
WITH q, p, n, bridge + vector.similarity.cosine(q[c.embedding], wanted) AS score
ORDER BY score DESC, q.id LIMIT toInteger($limit)
CALL (p, n, q) {
  MATCH path = (p)-[:MENTIONS]->(n)<-[:ABOUT]-(:Document)-[:HAS_PASSAGE]->(q) RETURN path
  UNION ALL
  MATCH path = (p)-[:MENTIONS]->(n)<-[:MENTIONS|ABOUT]-(q) RETURN path
}
WITH q, p, n, score, head(collect(path)) AS path
RETURN round(score, 3) AS score, q.name AS title, n.name AS via, p.name AS before, q.text AS text, path
ORDER BY score DESC, title
