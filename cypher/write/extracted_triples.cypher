// Write extracted triples with their vectors, hung on the passage that states them and on their entities. What no document
// gives carries given = false, on the triple and on its ends; the ends keep what the passage calls the entity.
// mode: write
// $rows: LIST<MAP> - {id, passage, subject, object (each {id, aliases, wikipedia} of an entity), properties, vector}
// $labels: LIST<STRING> - the collection's own label
// $embedding: STRING - property that holds the vector
// $version: STRING - version of the prompt
UNWIND $rows AS row
MATCH (p:Passage {id: row.passage})
MATCH (s:Entity {id: row.subject.id})
MATCH (o:Entity {id: row.object.id})
MERGE (t:Triple {id: row.id})
ON CREATE SET t = row.properties, t.given = false, t:$($labels)
SET t.extracted = $version
MERGE (p)-[:STATES]->(t)
MERGE (t)-[a:SUBJECT]->(s)
ON CREATE SET a.given = false
MERGE (t)-[b:OBJECT]->(o)
ON CREATE SET b.given = false
SET a.extracted = true, a.aliases = row.subject.aliases, a.wikipedia = row.subject.wikipedia,
    b.extracted = true, b.aliases = row.object.aliases, b.wikipedia = row.object.wikipedia
FOREACH (p IN CASE WHEN 'mentions' IN p.todo THEN [] ELSE [p] END | SET p.todo = coalesce(p.todo, []) + 'mentions')
WITH t, row WHERE row.vector IS NOT NULL
CALL db.create.setNodeVectorProperty(t, $embedding, row.vector)
