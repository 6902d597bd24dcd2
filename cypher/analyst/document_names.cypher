// title: Document: the names in it
// The entities that a document mentions, the rarest in other passages first.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $document: STRING = 'Fridtjof Nansen' - title or key of the document
// $limit: INTEGER = 25 - rows wanted
// -> name: STRING - the name
// -> here: INTEGER - passages of the document that mention it
// -> passages: INTEGER - passages of the collection that do
// -> document: STRING - a document that has it as its title, or null
// -> path: PATH - document, passage, name, to be drawn
MATCH (d:Document {collection: $collection}) WHERE d.title = $document OR d.key = $document
MATCH path = (d)-[:HAS_PASSAGE]->(:Passage)-[:MENTIONS]->(e:Entity)
WITH e, collect(path) AS paths ORDER BY e.df, e.name LIMIT toInteger($limit)
RETURN e.name AS name, size(paths) AS here, e.df AS passages, head(COLLECT { MATCH (e)<-[:ABOUT]-(other:Document) RETURN other.name ORDER BY other.name LIMIT 1 }) AS document, paths[0] AS path
ORDER BY passages, name
