// title: Entities: passages that mention both
// The passages that mention both of two names, to be read and drawn.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $entity: STRING = 'Roald Amundsen' - name of the first
// $other: STRING = 'Colin Archer' - name of the second
// $limit: INTEGER = 25 - rows wanted
// -> title: STRING - title of the passage
// -> text: STRING - the passage
// -> path: PATH - the passage between the two
MATCH (c:Kgrag:Collection {id: $collection})
UNWIND [$entity, $other] AS wanted
CALL (c, wanted) {
  CALL db.index.fulltext.queryNodes('entity_name_c' + c.number, '"' + replace(wanted, '"', ' ') + '"', {limit: 20}) YIELD node AS e, score
  RETURN e ORDER BY toLower(e.name) = toLower(wanted) DESC, score DESC, e.df DESC LIMIT 1
}
WITH collect(e) AS ends
WITH ends[0] AS a, ends[1] AS b
MATCH path = (a)<-[:MENTIONS]-(p:Passage)-[:MENTIONS]->(b)
RETURN p.name AS title, p.text AS text, path ORDER BY title LIMIT toInteger($limit)
