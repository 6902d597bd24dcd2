// Write extracted triples with their vectors, hung on the passage that states them and on their entities. What no document
// gives carries given = false, on the triple and on its ends; the ends keep what the passage calls the entity.
// mode: write
// $rows: LIST<MAP> - {id, passage, subject, object (each {id, aliases, wikipedia, type} of an entity), properties, fact (map of relation, valid_from, valid_to: of a schema of facts), vector}
// $labels: LIST<STRING> - the collection's own label
// $embedding: STRING - property that holds the vector
// $version: STRING - version of the prompt
UNWIND $rows AS row
MATCH (p:Kgrag:Passage {id: row.passage})
MATCH (s:Kgrag:Entity {id: row.subject.id})
MATCH (o:Kgrag:Entity {id: row.object.id})
MERGE (t:Kgrag:Triple {id: row.id})
ON CREATE SET t = row.properties, t.given = false, t:$($labels)
SET t += row.fact, t.extracted = $version, t.cell = row.properties.cell,
    t.stated_at = CASE WHEN row.fact.relation IS NOT NULL THEN head([(d:Document)-[:HAS_PASSAGE]->(p) | left(d.dated, 10)]) END
MERGE (p)-[:STATES]->(t)
MERGE (t)-[a:SUBJECT]->(s)
ON CREATE SET a.given = false
MERGE (t)-[b:OBJECT]->(o)
ON CREATE SET b.given = false
SET a.extracted = true, a.aliases = row.subject.aliases, a.wikipedia = row.subject.wikipedia, a.type = row.subject.type,
    b.extracted = true, b.aliases = row.object.aliases, b.wikipedia = row.object.wikipedia, b.type = row.object.type
FOREACH (p IN CASE WHEN 'mentions' IN p.todo THEN [] ELSE [p] END | SET p.todo = coalesce(p.todo, []) + 'mentions')
WITH t, row WHERE row.vector IS NOT NULL
CALL db.create.setNodeVectorProperty(t, $embedding, row.vector)
