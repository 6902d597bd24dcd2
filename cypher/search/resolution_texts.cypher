// What passages say of names, for a language model that is to tell whether they are one entity's.
// mode: read
// $ids: LIST<STRING> - entity ids
// $most: INTEGER = 2 - passages of each
// -> id: STRING - entity id
// -> passages: LIST<MAP> - {title, text}, those that bear the name first
UNWIND $ids AS id
MATCH (e:Entity {id: id})
CALL (e) {
  MATCH (e)<-[:ABOUT]-(d:Document)-[:HAS_PASSAGE]->(p:Passage) WHERE p.ordinal = 0
  RETURN p, 0 AS place
  UNION ALL
  MATCH (e)<-[:MENTIONS]-(p:Passage)
  RETURN p, 1 AS place
}
WITH e, p, min(place) AS place ORDER BY place, p.id
RETURN e.id AS id, collect(p {.title, .text})[..$most] AS passages
