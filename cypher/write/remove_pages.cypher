// Remove what documents that are written again no longer have of pages and tables, and all their pages' edges.
// mode: write
// $rows: LIST<MAP> - {id, pages, tables}: how many the document has now
UNWIND $rows AS row
MATCH (d:Document {id: row.id})
CALL (d, row) {
  MATCH (d)-[:HAS_PASSAGE]->(p:Passage) WHERE p.page IS NOT NULL OR EXISTS { (p)-[:OF_TABLE]->() }
  OPTIONAL MATCH (p)-[of:OF_TABLE]->()
  DELETE of
  REMOVE p.page, p.last_page
}
CALL (d, row) {
  MATCH (d)-[:HAS_PAGE]->(g:Page)
  OPTIONAL MATCH (g)-[r:CONTAINS|NEXT]->()
  DELETE r
  WITH DISTINCT g, row WHERE g.number > row.pages
  DETACH DELETE g
}
CALL (d, row) {
  MATCH (d)-[:HAS_TABLE]->(t:Table) WHERE t.number > row.tables
  DETACH DELETE t
}
