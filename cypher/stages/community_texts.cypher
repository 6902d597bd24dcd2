// The sources of reports on communities.
// mode: read
// $ids: LIST<STRING> - community ids
// $facts: INTEGER = 40 - facts of each at most
// -> id: STRING - community id
// -> names: LIST<STRING> - its key names
// -> facts: LIST<LIST<STRING>> - [subject, predicate, object] of facts between two of its own names
// -> passages: LIST<MAP> - {id, title, text, terms}, ordered by the number of members that they name
// -> reports: LIST<MAP> - {id, title, text, made} of its parts, the largest first
UNWIND $ids AS id
MATCH (c:Kgrag:Community {id: id})
CALL (c) {
  MATCH (c)<-[:IN_COMMUNITY]-(s:Entity)<-[:SUBJECT]-(t:Triple)-[:OBJECT]->(o:Entity)-[:IN_COMMUNITY]->(c)
  WHERE s <> o
  WITH DISTINCT t.subject AS subject, t.predicate AS predicate, t.object AS object
  ORDER BY subject, predicate, object LIMIT toInteger($facts)
  RETURN collect([subject, predicate, object]) AS facts
}
CALL (c) {
  MATCH (c)-[r:SUMMARISES]->(p:Passage)
  WITH p ORDER BY r.weight DESC, p.id
  RETURN collect(p {.id, .title, .text, terms: []}) AS passages
}
CALL (c) {
  MATCH (c)<-[:PART_OF]-(part:Community)
  WITH part ORDER BY part.size DESC, part.id
  RETURN collect(part {.id, .title, .text, .made}) AS reports
}
RETURN id, c.names AS names, facts, passages, reports
