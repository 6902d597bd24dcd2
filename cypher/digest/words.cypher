// The content of words in a digest of a collection.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - node id
// -> content: LIST<STRING> - what the node says
// -> edges: LIST<STRING> - where it leads, in no order
MATCH (n:Word {collection: $collection})
RETURN n.id AS id, [n.stem, toString(n.df), toString(n.upper), toString(n.lower)] AS content, [] AS edges ORDER BY id
