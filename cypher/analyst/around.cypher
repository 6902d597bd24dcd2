// title: Entity: what surrounds it
// Draw the surroundings of an entity: the documents that it is the title of, the triples about it with their other ends,
// the names most like it, and the passages that mention it. Passages that name it often, and few other names, come first.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $entity: STRING = 'Roald Amundsen' - name of the entity
// $edges: INTEGER = 100 - edges in all; at most a quarter are mentions, and a quarter triples
// -> path: PATH - what leads to it
MATCH (c:Kgrag:Collection {id: $collection})
CALL db.index.fulltext.queryNodes('entity_name_c' + c.number, '"' + replace($entity, '"', ' ') + '"', {limit: 20}) YIELD node AS e, score
WITH e ORDER BY toLower(e.name) = toLower($entity) DESC, score DESC, e.df DESC LIMIT 1
CALL (e) {
  MATCH path = (e)<-[:ABOUT]-(:Document)-[:HAS_PASSAGE]->(p:Passage) WHERE p.ordinal < 5 RETURN path LIMIT 10
  UNION ALL
  MATCH path = (e)<-[:SUBJECT|OBJECT]-(t:Triple)-[:SUBJECT|OBJECT]->(o:Entity)
  RETURN path ORDER BY o.df, t.id LIMIT toInteger($edges / 4)
  UNION ALL
  MATCH path = (e)-[s:SIMILAR]-(:Entity) RETURN path ORDER BY s.score DESC LIMIT 5
  UNION ALL
  MATCH path = (e)<-[m:MENTIONS]-(p:Passage)
  RETURN path ORDER BY coalesce(m.weight, 1) * size(coalesce(m.positions, [0])) DESC, COUNT { (p)-[:MENTIONS]->() }, p.id LIMIT toInteger($edges / 4)
}
RETURN path LIMIT toInteger($edges)
