// Draw passages and the ties between them: their documents, the triples that they state, the edges between two of them,
// and the names and keywords that two share.
// mode: read
// $ids: LIST<STRING> - passage ids
// -> path: PATH - an edge, or two over what two passages share
MATCH (p:Kgrag:Passage) WHERE p.id IN $ids
WITH collect(p) AS passages
UNWIND passages AS p
CALL (p, passages) {
  MATCH path = (p)<-[:HAS_PASSAGE]-(:Document)
  RETURN path
  UNION ALL
  MATCH path = (p)-[:STATES]->(:Triple)-[:SUBJECT|OBJECT]->(:Entity)
  RETURN path
  UNION ALL
  UNWIND passages AS other
  WITH p, other WHERE p.id < other.id
  MATCH path = (p)-[:NEXT|SIMILAR]-(other)
  RETURN path
  UNION ALL
  UNWIND passages AS other
  WITH p, other WHERE p.id < other.id
  MATCH path = (p)-[:MENTIONS|HAS_KEYWORD]->()<-[:MENTIONS|HAS_KEYWORD]-(other)
  RETURN path
}
RETURN path
