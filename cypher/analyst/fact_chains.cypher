// title: Entity: chains of two triples
// The chains of two triples from an entity through another one: "who designed the ship, and where did he live".
// Skips entities with more triples than $cap; those with the fewest come first. To be drawn.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $entity: STRING = 'Roald Amundsen' - name of the entity
// $cap: INTEGER = 50 - triples that an entity in between may have
// $limit: INTEGER = 25 - rows wanted
// -> chain: STRING - the two triples in words
// -> path: PATH - entity, triple, entity, triple, entity
MATCH (c:Kgrag:Collection {id: $collection})
CALL db.index.fulltext.queryNodes('entity_name_c' + c.number, '"' + replace($entity, '"', ' ') + '"', {limit: 20}) YIELD node AS e, score
WITH e ORDER BY toLower(e.name) = toLower($entity) DESC, COUNT { (e)<-[:SUBJECT|OBJECT]-() } > 0 DESC, score DESC, e.df DESC LIMIT 1
MATCH (e)<-[:SUBJECT|OBJECT]-(t:Triple)-[:SUBJECT|OBJECT]->(via:Entity)
WITH e, t, via, COUNT { (via)<-[:SUBJECT|OBJECT]-() } AS triples WHERE via <> e AND triples <= $cap
MATCH (via)<-[:SUBJECT|OBJECT]-(u:Triple)-[:SUBJECT|OBJECT]->(far:Entity)
WHERE u <> t AND far <> e AND far <> via
WITH e, t, via, u, far, triples ORDER BY triples, t.text, u.text LIMIT toInteger($limit)
MATCH path = (e)<-[:SUBJECT|OBJECT]-(t)-[:SUBJECT|OBJECT]->(via)<-[:SUBJECT|OBJECT]-(u)-[:SUBJECT|OBJECT]->(far)
RETURN t.text + ' / ' + u.text AS chain, path ORDER BY triples, chain
