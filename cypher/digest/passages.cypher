// The content of passages in a digest of a collection.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - node id
// -> content: LIST<STRING> - what the node says
// -> edges: LIST<STRING> - where it leads, in no order
MATCH (n:Passage {collection: $collection})
RETURN n.id AS id, [n.name, n.text] + [x IN [n.extracted, n.tagged] WHERE x IS NOT NULL] + coalesce(n.outside, []) AS content, [(n)-[:NEXT]->(m) | m.id] + [(n)-[m:MENTIONS]->(e) | e.id + ':' + m.via + coalesce(':' + toString(m.tagme), '') + CASE WHEN m.about THEN ':about' ELSE '' END + CASE WHEN m.stated THEN ':stated' ELSE '' END] + [(n)-[h:HAS_KEYWORD]->(k) | k.id + ':' + toString(h.weight)] + [(n)-[a:ABOUT]->(e) | e.id + ':' + toString(a.weight)] + [(n)-[:STATES]->(t) | t.id] + [(n)-[:NAMES]->(k) | k.id] AS edges ORDER BY id
