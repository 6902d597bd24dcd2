// title: Collection: its schema, an example of each edge
// One example of each kind of edge that a collection has, between the labels that it joins: the schema as a picture. Edges
// of a schema of facts and of an attached graph are not among them. `kgrag cypher "MATCH (s:Schema) RETURN s"` says what
// each label, edge and property means.
// mode: read
// $collection: STRING = 'default' - name of the collection
// -> path: PATH - the example, to be drawn
CALL () {
  MATCH path = (:Collection {name: $collection})-[:HOLDS]->(:Document) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Document {collection: $collection})-[:HAS_PASSAGE]->(:Passage) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Document {collection: $collection})-[:HAS_PAGE]->(:Page) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Document {collection: $collection})-[:HAS_TABLE]->(:Table) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Page {collection: $collection})-[:CONTAINS]->(:Passage) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Page {collection: $collection})-[:CONTAINS]->(:Table) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Passage)-[:OF_TABLE]->(:Table {collection: $collection}) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Page)-[:SHOWS]->(:Figure {collection: $collection}) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Document)-[:SHOWS]->(:Figure {collection: $collection}) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Passage)-[:REFERS_TO]->(:Figure {collection: $collection}) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Passage {collection: $collection})-[:NEXT]->(:Passage) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Page {collection: $collection})-[:NEXT]->(:Page) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Step {collection: $collection})-[:NEXT]->(:Step) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Document {collection: $collection})-[:LINKS_TO]->(:Document) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Summary {collection: $collection})-[:SUMMARISES]->(:Passage) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Summary {collection: $collection})-[:SUMMARISES]->(:Summary) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Community {collection: $collection})-[:SUMMARISES]->(:Passage) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Entity)-[:IN_COMMUNITY]->(:Community {collection: $collection}) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Community {collection: $collection})-[:PART_OF]->(:Community) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Document {collection: $collection})-[:ABOUT]->(:Entity) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Passage {collection: $collection})-[:ABOUT]->(:Entity) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Passage {collection: $collection})-[:MENTIONS]->(:Entity) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Passage {collection: $collection})-[:HAS_KEYWORD]->(:Keyword) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Passage {collection: $collection})-[:NAMES]->(:Keyword) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Passage {collection: $collection})-[:SIMILAR]->(:Passage) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Entity {collection: $collection})-[:SIMILAR]->(:Entity) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Entity {collection: $collection})-[:SAME_AS]->(:Entity) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Passage)-[:STATES]->(:Triple {collection: $collection}) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Triple {collection: $collection})-[:SUBJECT]->(:Entity) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Triple {collection: $collection})-[:OBJECT]->(:Entity) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Run {collection: $collection})-[:HAS_STEP]->(:Step) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Step {collection: $collection})-[:RETRIEVED]->(:Passage) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Step {collection: $collection})-[:LINKED]->(:Triple) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Run {collection: $collection})-[:FOUND]->(:Passage) RETURN path LIMIT 1
  UNION ALL MATCH path = (:Run {collection: $collection})-[:CITES]->(:Passage) RETURN path LIMIT 1
}
RETURN path
