// The content of figures in a digest of a collection.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - node id
// -> content: LIST<STRING> - what the node says
// -> edges: LIST<STRING> - where it leads, in no order
MATCH (n:Figure {collection: $collection})
RETURN n.id AS id, [n.name, n.caption, n.sha, n.media_type, n.description, toString(n.number), toString(n.page)] AS content, [(n)<-[:SHOWS]-(o) | o.id] + [(n)<-[:REFERS_TO]-(p) | p.id] AS edges ORDER BY id
