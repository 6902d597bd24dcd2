// Nodes of an import under another name whose ids wait to be made of their own properties and that name.
// mode: read
// $collection: STRING - name of the collection
// $prefix: STRING - how waiting ids begin
// -> label: STRING - label of a node
// -> element: STRING - element id of the node
// -> id: STRING - its waiting id
// -> parent: STRING - what the id is made of besides the node's own properties
// -> parts: LIST<STRING> - those
CALL () {
  MATCH (n:Document {collection: $collection}) WHERE n.id STARTS WITH $prefix RETURN 'Document' AS label, n, [n.key] AS parts
  UNION ALL MATCH (n:Entity {collection: $collection}) WHERE n.id STARTS WITH $prefix RETURN 'Entity' AS label, n, [n.normal] AS parts
  UNION ALL MATCH (n:Word {collection: $collection}) WHERE n.id STARTS WITH $prefix RETURN 'Word' AS label, n, [n.stem] AS parts
  UNION ALL MATCH (n:Keyword {collection: $collection}) WHERE n.id STARTS WITH $prefix RETURN 'Keyword' AS label, n, [n.stem] AS parts
  UNION ALL MATCH (n:Run {collection: $collection}) WHERE n.id STARTS WITH $prefix RETURN 'Run' AS label, n, [] AS parts
}
RETURN label, elementId(n) AS element, n.id AS id, null AS parent, parts
