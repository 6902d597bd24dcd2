// Personalised PageRank, exact: every passage of a collection with the entities that it is tied to.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - passage id
// -> number: INTEGER - its internal number
// -> mentions: LIST<INTEGER> - entities that it mentions
// -> titles: LIST<INTEGER> - entities of its document's title and of its own headings
// -> ends: LIST<INTEGER> - ends of its triples: subject, object, subject, ...
MATCH (d:Document {collection: $collection})-[:HAS_PASSAGE]->(p:Passage)
RETURN p.id AS id, id(p) AS number, [(p)-[:MENTIONS]->(e) | id(e)] AS mentions, [(d)-[:ABOUT]->(e) | id(e)] + [(p)-[:ABOUT]->(e) | id(e)] AS titles,
       reduce(ends = [], pair IN [(s)<-[:SUBJECT]-(t:Triple)<-[:STATES]-(p) | [id(s), head([(t)-[:OBJECT]->(o) | id(o)])]] | ends + pair) AS ends
