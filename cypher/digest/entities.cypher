// The content of entities in a digest of a collection.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - node id
// -> content: LIST<STRING> - what the node says
// -> edges: LIST<STRING> - where it leads, in no order
MATCH (n:Entity {collection: $collection})
RETURN n.id AS id, [n.normal, n.name, toString(n.df), toString(n.ntit), toString(n.phrases)] + coalesce(n.aliases, []) + [x IN [n.wikipedia] WHERE x IS NOT NULL] + coalesce(n.types, []) AS content,
       [(n)-[:SAME_AS]->(m:Entity) | 'SAME_AS ' + m.id]
       + [(n)-[r]->(m:Entity) WHERE r.facts IS NOT NULL | reduce(all = type(r) + ' ' + m.id, x IN r.facts + r.passages + [x IN [r.valid_from, r.valid_to] WHERE x IS NOT NULL] | all + ':' + x)] AS edges ORDER BY id
