// title: Entity: what surrounds it
// What surrounds an entity, to be drawn: the documents that it is the title of, passages that mention it, the triples
// about it and what these tie it to, names that resemble it.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $entity: STRING = 'Roald Amundsen' - name of the entity
// $edges: INTEGER = 100 - edges in all
// -> path: PATH - what leads to it
MATCH (c:Collection {name: $collection})
CALL db.index.fulltext.queryNodes('entity_name_c' + c.number, '"' + replace($entity, '"', ' ') + '"', {limit: 20}) YIELD node AS e, score
WITH e ORDER BY toLower(e.name) = toLower($entity) DESC, score DESC, e.df DESC LIMIT 1
CALL (e) {
  MATCH path = (e)<-[:ABOUT]-(:Document)-[:HAS_PASSAGE]->(p:Passage) WHERE p.ordinal < 5 RETURN path LIMIT 25
  UNION ALL
  MATCH path = (e)-[:SIMILAR]-(:Entity) RETURN path LIMIT 25
  UNION ALL
  MATCH path = (e)<-[:SUBJECT|OBJECT]-(:Triple)-[:SUBJECT|OBJECT]->(:Entity) RETURN path LIMIT 50
  UNION ALL
  MATCH path = (e)<-[:MENTIONS]-(:Passage) RETURN path
}
RETURN path LIMIT toInteger($edges)
