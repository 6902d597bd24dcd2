// title: Collection: what is in it
// Count the nodes of a collection by kind, and the edges that retrieval walks. Phrases without a mention are left out.
// mode: read
// each: held
// $collection: STRING = 'default' - name of the collection
// -> kind: STRING - a label, or an edge between two labels
// -> number: INTEGER - how many
CALL () {
  MATCH (n:{label} {collection: $collection}) WHERE coalesce(n.df, 1) > 0 OR n.named RETURN '{label}' AS kind, count(n) AS number
  UNION ALL
  MATCH (d:Document {collection: $collection}) RETURN '(Document)-[:ABOUT]->(Entity)' AS kind, sum(COUNT { (d)-[:ABOUT]->() }) AS number
  UNION ALL
  MATCH (p:Passage {collection: $collection}) RETURN '(Passage)-[:SIMILAR]->(Passage)' AS kind, sum(COUNT { (p)-[:SIMILAR]->() }) AS number
  UNION ALL
  MATCH (e:Entity {collection: $collection}) RETURN '(Passage)-[:MENTIONS]->(Entity)' AS kind, sum(e.df) AS number
  UNION ALL
  MATCH (k:Keyword {collection: $collection}) RETURN '(Passage)-[:HAS_KEYWORD]->(Keyword)' AS kind, sum(k.df) AS number
  UNION ALL
  MATCH (e:Entity)-[s:SIMILAR]->() WHERE e.collection = $collection AND e.stemmed > ''
  RETURN '(Entity)-[:SIMILAR]->(Entity)' AS kind, count(s) AS number
  UNION ALL
  MATCH (t:Triple {collection: $collection})
  WITH sum(COUNT { (t)<-[:STATES]-() }) AS states, sum(COUNT { (t)-[:SUBJECT]->() }) AS subjects, sum(COUNT { (t)-[:OBJECT]->() }) AS objects
  UNWIND [['(Passage)-[:STATES]->(Triple)', states], ['(Triple)-[:SUBJECT]->(Entity)', subjects], ['(Triple)-[:OBJECT]->(Entity)', objects]] AS row
  RETURN row[0] AS kind, row[1] AS number
}
WITH kind, number WHERE number > 0
RETURN kind, number
