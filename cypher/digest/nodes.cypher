// The content of nodes in a digest of a collection, of a label without a statement of its own.
// mode: read
// label: held
// $collection: STRING - name of the collection
// $content: LIST<STRING> - properties that count
// -> id: STRING - node id
// -> content: LIST<STRING> - what the node says
// -> edges: LIST<STRING> - where it leads, in no order
MATCH (n:{label} {collection: $collection})
RETURN n.id AS id, [key IN $content | toStringOrNull(n[key])] AS content,
       [(n)-[r]->(m) WHERE type(r) <> 'SIMILAR' | type(r) + ':' + coalesce(m.id, m.name)] AS edges ORDER BY id
