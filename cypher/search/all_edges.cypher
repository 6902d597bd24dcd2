// Every edge that leaves a node of a collection, those of one node together; inside: it ends in the collection, too.
// mode: read
// $collection: STRING - name of the collection
// $labels: LIST<STRING> - the labels that name a kind of node
// -> type: STRING - relationship type
// -> start_label: STRING - label of its start
// -> start: STRING - id of its start, the name of a Collection
// -> end_label: STRING - label of its end
// -> end: STRING - id of its end
// -> inside: BOOLEAN - whether its end is a node of the collection
// -> properties: MAP - its properties
CALL () {
  MATCH (n:Collection {name: $collection})-[r]->(m) RETURN 'Collection' AS label, n.name AS id, r, m
  UNION ALL MATCH (n:Document {collection: $collection})-[r]->(m) RETURN 'Document' AS label, n.id AS id, r, m
  UNION ALL MATCH (n:Page {collection: $collection})-[r]->(m) RETURN 'Page' AS label, n.id AS id, r, m
  UNION ALL MATCH (n:Table {collection: $collection})-[r]->(m) RETURN 'Table' AS label, n.id AS id, r, m
  UNION ALL MATCH (n:Passage {collection: $collection})-[r]->(m) RETURN 'Passage' AS label, n.id AS id, r, m
  UNION ALL MATCH (n:Keyword {collection: $collection})-[r]->(m) RETURN 'Keyword' AS label, n.id AS id, r, m
  UNION ALL MATCH (n:Word {collection: $collection})-[r]->(m) RETURN 'Word' AS label, n.id AS id, r, m
  UNION ALL MATCH (n:Entity {collection: $collection})-[r]->(m) RETURN 'Entity' AS label, n.id AS id, r, m
  UNION ALL MATCH (n:Triple {collection: $collection})-[r]->(m) RETURN 'Triple' AS label, n.id AS id, r, m
  UNION ALL MATCH (n:Run {collection: $collection})-[r]->(m) RETURN 'Run' AS label, n.id AS id, r, m
  UNION ALL MATCH (n:Step {collection: $collection})-[r]->(m) RETURN 'Step' AS label, n.id AS id, r, m
}
WITH label, id, r, m, [name IN labels(m) WHERE name IN $labels][0] AS end_label
RETURN type(r) AS type, label AS start_label, id AS start, end_label, CASE end_label WHEN 'Collection' THEN m.name ELSE m.id END AS end,
       coalesce(end_label IS NOT NULL AND m.collection = $collection, false) AS inside, properties(r) AS properties
