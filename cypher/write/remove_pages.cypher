// Remove what documents that are written again no longer have of pages, tables and figures, and all edges of pages and figures.
// mode: write
// $rows: LIST<MAP> - {id, pages, tables, figures}: how many the document has now
UNWIND $rows AS row
MATCH (d:Kgrag:Document {id: row.id})
CALL (d, row) {
  MATCH (d)-[:HAS_PASSAGE]->(p:Passage) WHERE p.page IS NOT NULL OR EXISTS { (p)-[:OF_TABLE|REFERS_TO]->() }
  OPTIONAL MATCH (p)-[of:OF_TABLE|REFERS_TO]->()
  DELETE of
  REMOVE p.page, p.last_page
}
CALL (d, row) {
  MATCH (d)-[:SHOWS|HAS_PAGE*1..2]->(f:Figure)
  MATCH (f)<-[s:SHOWS]-()
  DELETE s
  WITH DISTINCT f, row WHERE f.number > row.figures
  DETACH DELETE f
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
