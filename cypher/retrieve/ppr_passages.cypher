// Personalised PageRank, exact: every passage of a collection with the entities that it is tied to.
// mode: read
// $collection: STRING - name of the collection
// $named: BOOLEAN = true - passages are tied to what they mention and are titled; else to the ends of their triples
// -> id: STRING - passage id
// -> element: STRING - its element id
// -> mentions: LIST<STRING> - entities that it mentions; those of its triples as often as they stand there
// -> titles: LIST<STRING> - entities of its document's title and of its own headings
// -> subjects: LIST<STRING> - subjects of its triples
// -> objects: LIST<STRING> - their objects
MATCH (d:Document {collection: $collection})-[:HAS_PASSAGE]->(p:Passage)
CALL (p) {
  MATCH (p)-[:STATES]->(t:Triple)-[:SUBJECT]->(s), (t)-[:OBJECT]->(o)
  RETURN collect(elementId(s)) AS subjects, collect(elementId(o)) AS objects
}
RETURN p.id AS id, elementId(p) AS element,
       CASE WHEN $named THEN [(p)-[:MENTIONS]->(e) | elementId(e)] ELSE subjects + objects END AS mentions,
       CASE WHEN $named THEN [(d)-[:ABOUT]->(e) | elementId(e)] + [(p)-[:ABOUT]->(e) | elementId(e)] ELSE [] END AS titles,
       subjects, objects
