// Tell passages which pages and which table they are of, and which figures they refer to.
// mode: write
// $rows: LIST<MAP> - {id, page, last_page, pages, table, figures}: numbers of the first and last page, ids of all, id of the table, ids of the figures
UNWIND $rows AS row
MATCH (p:Kgrag:Passage {id: row.id})
SET p.page = row.page, p.last_page = row.last_page
WITH p, row
CALL (p, row) {
  UNWIND row.pages AS page
  MATCH (g:Kgrag:Page {id: page})
  MERGE (g)-[:CONTAINS]->(p)
}
CALL (p, row) {
  MATCH (t:Kgrag:Table {id: row.table})
  MERGE (p)-[:OF_TABLE]->(t)
}
CALL (p, row) {
  UNWIND row.figures AS figure
  MATCH (f:Kgrag:Figure {id: figure})
  MERGE (p)-[:REFERS_TO]->(f)
}
