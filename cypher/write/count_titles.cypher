// Count the distinct titles that bear each entity's name, and the documents whose passages only do.
// mode: write
// $ids: LIST<STRING> - entity ids
UNWIND $ids AS id
MATCH (e:Entity {id: id})
CALL (e) { MATCH (e)<-[:ABOUT]-(d:Document) RETURN count(DISTINCT toLower(d.title)) AS titles }
CALL (e) {
  MATCH (e)<-[:ABOUT]-(:Passage)<-[:HAS_PASSAGE]-(d:Document) WHERE NOT (d)-[:ABOUT]->(e)
  RETURN count(DISTINCT d) AS within
}
SET e.ntit = titles + within
