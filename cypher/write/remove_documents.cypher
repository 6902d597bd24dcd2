// Remove documents that have no passages left, with their pages, tables and figures.
// mode: write
// $ids: LIST<STRING> - document ids
// -> entity: STRING - entity that lost a title
UNWIND $ids AS id
MATCH (d:Kgrag:Document {id: id})
OPTIONAL MATCH (d)-[:ABOUT]->(e:Entity)
SET e.todo = coalesce(e.todo, []) + [stage IN ['titles'] WHERE NOT stage IN coalesce(e.todo, [])]
WITH collect(DISTINCT e.id) AS entities, collect(DISTINCT d) AS documents
CALL (documents) {
  UNWIND documents AS d
  MATCH (d)-[:HAS_PAGE|HAS_TABLE|SHOWS*1..2]->(part:Page|Table|Figure)
  DETACH DELETE part
}
FOREACH (d IN documents | DETACH DELETE d)
WITH entities UNWIND entities AS entity
RETURN entity
