// Write triples that documents give, with their vectors, hung on the passage that states them; their ends come after. What
// was extracted only (given = false) is given from now on.
// mode: write
// $rows: LIST<MAP> - {id, passage, properties, vector}
// $labels: LIST<STRING> - the collection's own label
// $embedding: STRING - property that holds the vector
UNWIND $rows AS row
MATCH (p:Kgrag:Passage {id: row.passage})
MERGE (t:Kgrag:Triple {id: row.id})
ON CREATE SET t = row.properties, t:$($labels)
MERGE (p)-[:STATES]->(t)
REMOVE t.given
FOREACH (p IN CASE WHEN 'mentions' IN p.todo THEN [] ELSE [p] END | SET p.todo = coalesce(p.todo, []) + 'mentions')
WITH t, row WHERE row.vector IS NOT NULL
CALL db.create.setNodeVectorProperty(t, $embedding, row.vector)
