// title: Passages: that link two topics
// The passages that fit one topic, those that fit another, and the names that both mention, the rarest first; to be
// drawn.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $query: STRING = 'ship polar ice' - words of the one topic, or any Lucene query
// $other_query: STRING = 'town harbour birthplace' - words of the other
// $passages: INTEGER = 30 - passages of each topic
// $limit: INTEGER = 25 - rows wanted
// -> name: STRING - the name that links them
// -> weight: FLOAT - its rarity: ln(passages of the collection / passages that mention it)
// -> title: STRING - title of a passage on the one topic
// -> other: STRING - title of a passage on the other
// -> path: PATH - passage, name, passage
MATCH (c:Kgrag:Collection {id: $collection})
CALL (c) {
  CALL db.index.fulltext.queryNodes('passage_text_c' + c.number, $query, {limit: toInteger($passages)}) YIELD node
  RETURN collect(node) AS ones
}
CALL (c) {
  CALL db.index.fulltext.queryNodes('passage_text_c' + c.number, $other_query, {limit: toInteger($passages)}) YIELD node
  RETURN collect(node) AS others
}
CALL (ones, others) {
  UNWIND others AS q
  WITH q WHERE NOT q IN ones
  MATCH (q)-[n:MENTIONS]->(e:Entity) WHERE e.df > 1
  RETURN e, collect(n) AS to
}
CALL (ones, e) {
  MATCH (e)<-[m:MENTIONS]-(p:Passage) WHERE p IN ones
  RETURN collect(m) AS from
}
WITH c, e, to, from WHERE size(from) > 0
ORDER BY e.df, e.name LIMIT toInteger($limit)
UNWIND from AS m
UNWIND to AS n
WITH c, e, m, n ORDER BY e.df, e.name LIMIT toInteger($limit)
MATCH path = (p)-[m]->(e)<-[n]-(q)
RETURN e.name AS name, round(log(toFloat(c.passages) / e.df), 2) AS weight, p.name AS title, q.name AS other, path
ORDER BY weight DESC, name, title, other
