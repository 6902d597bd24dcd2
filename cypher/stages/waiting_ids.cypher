// Nodes of a label in an import under another name whose ids wait to be made again.
// mode: read
// label: held
// $collection: STRING - name of the collection
// $prefix: STRING - how waiting ids begin
// $of: STRING - type of the relationship from the node within which the id is made, or null: within the collection
// $by: LIST<STRING> - properties that the id is made of
// -> element: STRING - element id of the node
// -> id: STRING - its waiting id
// -> home: STRING - id of the node within which the id is made, or null
// -> key: STRING - that node's key, if it is a document
// -> parts: LIST<STRING> - the values of the properties
MATCH (n:{label} {collection: $collection}) WHERE n.id STARTS WITH $prefix
OPTIONAL MATCH (n)<-[r]-(home) WHERE $of IS NOT NULL AND type(r) = $of
RETURN elementId(n) AS element, n.id AS id, home.id AS home, home.key AS key, [property IN $by | toString(n[property])] AS parts
