// Nodes of an import under another name whose ids wait to be made of their passage's id.
// mode: read
// $collection: STRING - name of the collection
// $prefix: STRING - how waiting ids begin
// -> label: STRING - label of a node
// -> element: STRING - element id of the node
// -> id: STRING - its waiting id
// -> parent: STRING - what the id is made of besides the node's own properties
// -> parts: LIST<STRING> - those
MATCH (p:Passage)-[:STATES]->(n:Triple {collection: $collection}) WHERE n.id STARTS WITH $prefix
RETURN 'Triple' AS label, elementId(n) AS element, n.id AS id, p.id AS parent, [n.subject, n.predicate, n.object] AS parts
