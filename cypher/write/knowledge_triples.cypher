// Write facts of a knowledge graph between its entities, which are there.
// mode: write
// $rows: LIST<MAP> - {properties (id, key, name, subject, predicate, object, text), subject, object (ids of entities)}
// $collection: STRING - name of the collection
// $labels: LIST<STRING> - the collection's own label
UNWIND $rows AS row
MATCH (s:Kgrag:Entity {id: row.subject})
MATCH (o:Kgrag:Entity {id: row.object})
MERGE (t:Kgrag:Triple {id: row.properties.id})
ON CREATE SET t = row.properties, t.collection = $collection, t:$($labels)
ON MATCH SET t += row.properties
MERGE (t)-[:SUBJECT]->(s)
MERGE (t)-[:OBJECT]->(o)
