// Personalised PageRank, exact: every passage of a collection with the entities that it is tied to.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - passage id
// -> number: INTEGER - its internal number
// -> mentions: LIST<INTEGER> - entities that it mentions
// -> titles: LIST<INTEGER> - entities of its document's title and of its own headings
// -> subjects: LIST<INTEGER> - subjects of its triples
// -> objects: LIST<INTEGER> - their objects
MATCH (d:Document {collection: $collection})-[:HAS_PASSAGE]->(p:Passage)
CALL (p) {
  MATCH (p)-[:STATES]->(t:Triple)-[:SUBJECT]->(s), (t)-[:OBJECT]->(o)
  RETURN collect(id(s)) AS subjects, collect(id(o)) AS objects
}
RETURN p.id AS id, id(p) AS number, [(p)-[:MENTIONS]->(e) | id(e)] AS mentions,
       [(d)-[:ABOUT]->(e) | id(e)] + [(p)-[:ABOUT]->(e) | id(e)] AS titles, subjects, objects
