// Write triples that documents give, with their vectors, hung on the passage that states them and on their entities. What
// was extracted only (given = false) is given from now on.
// mode: write
// $rows: LIST<MAP> - {id, passage, subject, object (entity ids), properties, vector}
// $labels: LIST<STRING> - the collection's own label
// $embedding: STRING - property that holds the vector
UNWIND $rows AS row
MATCH (p:Passage {id: row.passage})
MATCH (s:Entity {id: row.subject})
MATCH (o:Entity {id: row.object})
MERGE (t:Triple {id: row.id})
ON CREATE SET t += row.properties
SET t:$($labels), p.todo = coalesce(p.todo, []) + [stage IN ['mentions'] WHERE NOT stage IN coalesce(p.todo, [])]
MERGE (p)-[:STATES]->(t)
MERGE (t)-[a:SUBJECT]->(s)
MERGE (t)-[b:OBJECT]->(o)
REMOVE t.given, a.given, b.given
WITH t, row
CALL db.create.setNodeVectorProperty(t, $embedding, row.vector)
