// Every edge that leaves a node of a collection, those of one node together; inside: it ends in the collection, too.
// mode: read
// each: held
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
  MATCH (n:Kgrag:Collection {id: $collection})-[r]->(m) RETURN 'Collection' AS label, n.name AS id, r, m
  UNION ALL
  MATCH (n:{label} {collection: $collection})-[r]->(m) RETURN '{label}' AS label, n.id AS id, r, m
}
WITH label, id, r, m, [name IN labels(m) WHERE name IN $labels][0] AS end_label
RETURN type(r) AS type, label AS start_label, id AS start, end_label, CASE end_label WHEN 'Collection' THEN m.name ELSE m.id END AS end,
       coalesce(end_label IS NOT NULL AND m.collection = $collection, false) AS inside, properties(r) AS properties
