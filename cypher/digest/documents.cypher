// The content of documents in a digest of a collection.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - node id
// -> content: LIST<STRING> - what the node says
// -> edges: LIST<STRING> - where it leads, in no order
MATCH (n:Document {collection: $collection})
RETURN n.id AS id, [n.key, n.content_hash] AS content, [(n)-[a:ABOUT]->(e) | e.id + ':' + toString(a.weight)] + [(n)-[:HAS_PASSAGE]->(p) | p.id] + [(n)-[:LINKS_TO]->(o) | 'links to ' + o.id] AS edges ORDER BY id
