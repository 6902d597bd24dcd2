// The content of pages in a digest of a collection.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - node id
// -> content: LIST<STRING> - what the node says
// -> edges: LIST<STRING> - where it leads, in no order
MATCH (n:Page {collection: $collection})
RETURN n.id AS id, [n.name, n.label, n.text, n.confidence] AS content, [(n)-[:NEXT|CONTAINS]->(m) | m.id] + [(n)<-[:HAS_PAGE]-(d) | d.id] AS edges ORDER BY id
