// Write the pages of documents and hang them on these.
// mode: write
// $rows: LIST<MAP> - {document, id, properties}
UNWIND $rows AS row
MATCH (d:Kgrag:Document {id: row.document})
MERGE (g:Kgrag:Page {id: row.id})
SET g = row.properties
MERGE (d)-[:HAS_PAGE]->(g)
