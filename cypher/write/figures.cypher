// Write the figures of documents and hang them on the pages that show them, or on documents without pages.
// mode: write
// $rows: LIST<MAP> - {id, properties, document, page}: id of the page, or else of the document; the other null
UNWIND $rows AS row
MERGE (f:Kgrag:Figure {id: row.id})
SET f = row.properties
WITH f, row
CALL (f, row) {
  MATCH (g:Kgrag:Page {id: row.page})
  MERGE (g)-[:SHOWS]->(f)
}
CALL (f, row) {
  MATCH (d:Kgrag:Document {id: row.document})
  MERGE (d)-[:SHOWS]->(f)
}
