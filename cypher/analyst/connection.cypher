// title: Entities: how two are connected
// All shortest ways between two entities over passages that mention them, titles and triples, of eight edges at most;
// to be drawn.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $entity: STRING = 'Roald Amundsen' - name of the one
// $other: STRING = 'Colin Archer' - name of the other
// $limit: INTEGER = 25 - ways wanted
// -> path: PATH - one shortest way
// -> steps: LIST<STRING> - the names along it
// -> passages: LIST<STRING> - for each node the id of a passage that says it: the first of a document, null of an entity
MATCH (c:Collection {name: $collection})
CALL (c) {
  CALL db.index.fulltext.queryNodes('entity_name_c' + c.number, '"' + replace($entity, '"', ' ') + '"', {limit: 20}) YIELD node AS e, score
  RETURN e AS a ORDER BY toLower(e.name) = toLower($entity) DESC, score DESC, e.df DESC LIMIT 1
}
CALL (c) {
  CALL db.index.fulltext.queryNodes('entity_name_c' + c.number, '"' + replace($other, '"', ' ') + '"', {limit: 20}) YIELD node AS e, score
  RETURN e AS b ORDER BY toLower(e.name) = toLower($other) DESC, score DESC, e.df DESC LIMIT 1
}
WITH a, b WHERE a <> b
MATCH path = allShortestPaths((a)-[:MENTIONS|ABOUT|HAS_PASSAGE|STATES|SUBJECT|OBJECT*..8]-(b))
WITH path LIMIT toInteger($limit)
RETURN path, [n IN nodes(path) | n.name] AS steps, [n IN nodes(path) | CASE
  WHEN n:Passage THEN n.id
  WHEN n:Triple THEN head(COLLECT { MATCH (n)<-[:STATES]-(p:Passage) RETURN p.id ORDER BY p.id LIMIT 1 })
  WHEN n:Document THEN head(COLLECT { MATCH (n)-[:HAS_PASSAGE]->(p:Passage) RETURN p.id ORDER BY p.ordinal LIMIT 1 })
END] AS passages
