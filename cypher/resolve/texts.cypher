// What passages say of names, for a language model that is to tell whether they are one entity's.
// mode: read
// $ids: LIST<STRING> - entity ids
// $most: INTEGER = 2 - passages of each
// -> id: STRING - entity id
// -> passages: LIST<MAP> - {title, text}, passages titled by the name first
UNWIND $ids AS id
MATCH (e:Kgrag:Entity {id: id})
CALL (e) {
  MATCH (e)<-[:ABOUT]-(d:Document)-[:HAS_PASSAGE]->(p:Passage) WHERE p.ordinal = 0
  WITH DISTINCT p ORDER BY p.id LIMIT $most
  RETURN collect(p) AS titled
}
CALL (e, titled) {
  MATCH (e)<-[:MENTIONS]-(p:Passage) WHERE NOT p IN titled
  WITH DISTINCT p ORDER BY p.id LIMIT $most
  RETURN collect(p) AS others
}
RETURN e.id AS id, [p IN (titled + others)[..$most] | p {.title, .text}] AS passages
