// Write the tables of documents and hang them on these and on the pages that they stand on.
// mode: write
// $rows: LIST<MAP> - {document, id, properties, pages}: ids of the pages
UNWIND $rows AS row
MATCH (d:Kgrag:Document {id: row.document})
MERGE (t:Kgrag:Table {id: row.id})
SET t = row.properties
MERGE (d)-[:HAS_TABLE]->(t)
WITH t, row UNWIND row.pages AS page
MATCH (g:Kgrag:Page {id: page})
MERGE (g)-[:CONTAINS]->(t)
