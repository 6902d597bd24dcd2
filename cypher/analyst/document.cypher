// title: Document: its structure
// A document as a graph: its pages, tables, passages in their order, the names of its title, and links to and from others.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $document: STRING = 'Fridtjof Nansen' - title or key of the document
// $edges: INTEGER = 100 - edges of each kind
// -> path: PATH - an edge of the document, to be drawn
MATCH (d:Document {collection: $collection}) WHERE d.title = $document OR d.key = $document
CALL (d) {
  MATCH path = (d)-[:ABOUT]->(:Entity) RETURN path
  UNION ALL
  MATCH path = (d)-[:LINKS_TO]-(:Document) RETURN path LIMIT toInteger($edges)
  UNION ALL
  MATCH path = (d)-[:HAS_PASSAGE]->(p:Passage) WHERE p.ordinal < toInteger($edges) RETURN path ORDER BY p.ordinal
  UNION ALL
  MATCH (d)-[:HAS_PASSAGE]->(p:Passage) WHERE p.ordinal < toInteger($edges)
  MATCH path = (p)-[:NEXT|OF_TABLE]->() RETURN path
  UNION ALL
  MATCH path = (d)-[:HAS_TABLE]->(t:Table) RETURN path ORDER BY t.number LIMIT toInteger($edges)
  UNION ALL
  MATCH path = (d)-[:HAS_PAGE]->(g:Page) WHERE g.number <= toInteger($edges) RETURN path ORDER BY g.number
  UNION ALL
  MATCH (d)-[:HAS_PAGE]->(g:Page) WHERE g.number <= toInteger($edges)
  MATCH path = (g)-[:NEXT|CONTAINS]->() RETURN path
}
RETURN path
