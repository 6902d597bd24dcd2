// What a digest of a collection takes in of its triples.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - node id
// -> content: LIST<STRING> - what the node says
// -> edges: LIST<STRING> - where it leads, in no order
MATCH (n:Triple {collection: $collection})
RETURN n.id AS id, [n.text] AS content, [(n)-[r:SUBJECT|OBJECT]->(e) | type(r) + e.id] AS edges ORDER BY id
