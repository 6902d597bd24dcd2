// Write new passages with their vectors and hang them on their documents.
// mode: write
// $rows: LIST<MAP> - {id, document, properties, vector}
// $labels: LIST<STRING> - the collection's own label
// $embedding: STRING - property that holds the vector
// $todo: LIST<STRING> - corpus-wide stages that must visit the passages
UNWIND $rows AS row
MATCH (d:Kgrag:Document {id: row.document})
MERGE (p:Kgrag:Passage {id: row.id})
ON CREATE SET p = row.properties, p.todo = $todo, p:$($labels)
MERGE (d)-[:HAS_PASSAGE]->(p)
WITH p, row WHERE row.vector IS NOT NULL
CALL db.create.setNodeVectorProperty(p, $embedding, row.vector)
