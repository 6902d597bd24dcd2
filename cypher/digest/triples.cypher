// The content of triples in a digest of a collection.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - node id
// -> content: LIST<STRING> - what the node says
// -> edges: LIST<STRING> - where it leads, in no order
MATCH (n:Triple {collection: $collection})
RETURN n.id AS id, [n.text] + [x IN [n.extracted, toString(n.given), n.relation, n.valid_from, n.valid_to, n.stated_at, n.cell] WHERE x IS NOT NULL] AS content, [(n)-[r:SUBJECT|OBJECT]->(e) | reduce(all = type(r) + e.id, x IN coalesce(r.aliases, []) + [x IN [toString(r.given), r.type] WHERE x IS NOT NULL] | all + ':' + x)] AS edges ORDER BY id
