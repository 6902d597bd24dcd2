// Tell passages which pages and which table they are of.
// mode: write
// $rows: LIST<MAP> - {id, page, last_page, pages, table}: numbers of the first and last page, ids of all, id of the table
UNWIND $rows AS row
MATCH (p:Passage {id: row.id})
SET p.page = row.page, p.last_page = row.last_page
WITH p, row
CALL (p, row) {
  UNWIND row.pages AS page
  MATCH (g:Page {id: page})
  MERGE (g)-[:CONTAINS]->(p)
}
CALL (p, row) {
  MATCH (t:Table {id: row.table})
  MERGE (p)-[:OF_TABLE]->(t)
}
