// title: Passage: what stands around it
// The passage that fits some words best, with its document, its neighbours in the text, its page and table, the names
// that it mentions, the triples that it states and the passages most like it. To be drawn.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $query: STRING = 'ship polar ice' - words, or any Lucene query
// -> path: PATH - an edge around the passage
MATCH (c:Kgrag:Collection {id: $collection})
CALL db.index.fulltext.queryNodes('passage_text_c' + c.number, $query, {limit: 1}) YIELD node AS p
CALL (p) {
  MATCH path = (p)<-[:HAS_PASSAGE]-(:Document)-[:ABOUT]->(:Entity) RETURN path
  UNION ALL
  MATCH path = (p)-[:NEXT|CONTAINS|OF_TABLE|REFERS_TO|MENTIONS|ABOUT|HAS_KEYWORD]-() RETURN path
  UNION ALL
  MATCH path = (p)-[:SIMILAR]->(:Passage) RETURN path
  UNION ALL
  MATCH path = (p)-[:STATES]->(:Triple)-[:SUBJECT|OBJECT]->(:Entity) RETURN path
}
RETURN path
