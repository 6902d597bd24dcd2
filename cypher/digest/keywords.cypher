// The content of keywords in a digest of a collection.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - node id
// -> content: LIST<STRING> - what the node says
// -> edges: LIST<STRING> - where it leads, in no order
MATCH (n:Keyword {collection: $collection})
RETURN n.id AS id, [n.stem, toString(n.df)] AS content, [] AS edges ORDER BY id
