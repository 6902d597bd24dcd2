// title: Entity: the triples about it
// The triples about an entity, with the passages that state them. Triples with the entity as subject come first. To be drawn.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $entity: STRING = 'Roald Amundsen' - name of the entity
// $limit: INTEGER = 25 - rows wanted
// -> subject: STRING - subject
// -> predicate: STRING - predicate
// -> object: STRING - object
// -> title: STRING - title of the passage that states it
// -> path: PATH - passage, triple and object, null where no passage states it
// -> ends: PATH - subject, triple, object
MATCH (c:Kgrag:Collection {id: $collection})
CALL db.index.fulltext.queryNodes('entity_name_c' + c.number, '"' + replace($entity, '"', ' ') + '"', {limit: 20}) YIELD node AS e, score
WITH e ORDER BY toLower(e.name) = toLower($entity) DESC, COUNT { (e)<-[:SUBJECT|OBJECT]-() } > 0 DESC, score DESC, e.df DESC LIMIT 1
MATCH (e)<-[end:SUBJECT|OBJECT]-(t:Triple)
WITH t, max(type(end)) AS role ORDER BY role DESC, t.text, t.id LIMIT toInteger($limit)
MATCH ends = (:Entity)<-[:SUBJECT]-(t)-[:OBJECT]->(:Entity)
OPTIONAL MATCH path = (p:Passage)-[:STATES]->(t)-[:OBJECT]->(:Entity)
RETURN t.subject AS subject, t.predicate AS predicate, t.object AS object, p.name AS title, path, ends
ORDER BY role DESC, t.text, title
