// title: Attached graph: a document's node
// The node of an attached graph from which a document was made, with its neighbours there. To be drawn.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $document: STRING = 'Fridtjof Nansen' - title or key of the document
// $edges: INTEGER = 100 - relationships wanted
// -> node: NODE - the node
// -> relationship: STRING - type of a relationship, null where it has none
// -> neighbour: NODE - the node at its other end
// -> path: PATH - both, to be drawn
MATCH (d:Document {collection: $collection}) WHERE d.title = $document OR d.key = $document
WITH d.meta_element AS element
MATCH (n) WHERE elementId(n) = element
OPTIONAL MATCH path = (n)-[r]-(m)
RETURN n AS node, type(r) AS relationship, m AS neighbour, path
ORDER BY relationship, elementId(m) LIMIT toInteger($edges)
