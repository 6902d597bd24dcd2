// The content of tables in a digest of a collection.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - node id
// -> content: LIST<STRING> - what the node says
// -> edges: LIST<STRING> - where it leads, in no order
MATCH (n:Table {collection: $collection})
RETURN n.id AS id, [n.name, n.caption, n.markdown, toString(n.page), toString(n.last_page)] AS content, [(n)<-[:OF_TABLE]-(p) | p.id] + [(n)<-[:HAS_TABLE]-(d) | d.id] AS edges ORDER BY id
