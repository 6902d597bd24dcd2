// Nodes of an import under another name whose ids wait to be made of their document's key, or of their run's id.
// mode: read
// $collection: STRING - name of the collection
// $prefix: STRING - how waiting ids begin
// -> label: STRING - label of a node
// -> element: STRING - element id of the node
// -> id: STRING - its waiting id
// -> parent: STRING - what the id is made of besides the node's own properties
// -> parts: LIST<STRING> - those
CALL () {
  MATCH (d:Document)-[:HAS_PAGE]->(n:Page {collection: $collection}) WHERE n.id STARTS WITH $prefix
  RETURN 'Page' AS label, n, d.key AS parent, [toString(n.number)] AS parts
  UNION ALL MATCH (d:Document)-[:HAS_TABLE]->(n:Table {collection: $collection}) WHERE n.id STARTS WITH $prefix
  RETURN 'Table' AS label, n, d.key AS parent, [toString(n.number)] AS parts
  UNION ALL MATCH (d:Document)-[:HAS_PASSAGE]->(n:Passage {collection: $collection}) WHERE n.id STARTS WITH $prefix
  RETURN 'Passage' AS label, n, d.key AS parent, [n.title, n.section, n.text] AS parts
  UNION ALL MATCH (r:Run)-[:HAS_STEP]->(n:Step {collection: $collection}) WHERE n.id STARTS WITH $prefix
  RETURN 'Step' AS label, n, r.id AS parent, [toString(n.number)] AS parts
}
RETURN label, elementId(n) AS element, n.id AS id, parent, parts
