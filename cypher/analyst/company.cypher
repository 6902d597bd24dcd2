// title: Entity: the names mentioned with it
// The names that are mentioned in the same passages as a name, weighted by rarity, so that frequent names count little.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $entity: STRING = 'Roald Amundsen' - name of the entity
// $limit: INTEGER = 25 - rows wanted
// -> name: STRING - the other name
// -> together: INTEGER - passages that mention both
// -> passages: INTEGER - passages that mention the other one
// -> weight: FLOAT - together · ln(passages of the collection / passages)
MATCH (c:Kgrag:Collection {id: $collection})
CALL db.index.fulltext.queryNodes('entity_name_c' + c.number, '"' + replace($entity, '"', ' ') + '"', {limit: 20}) YIELD node AS e, score
WITH c, e ORDER BY toLower(e.name) = toLower($entity) DESC, score DESC, e.df DESC LIMIT 1
MATCH (e)<-[:MENTIONS]-(:Passage)-[:MENTIONS]->(other:Entity)
WITH c, other, count(*) AS together
WITH other, together, together * log(toFloat(c.passages) / other.df) AS weight
ORDER BY weight DESC, other.name LIMIT toInteger($limit)
RETURN other.name AS name, together, other.df AS passages, round(weight, 2) AS weight
