// title: Collection: what is in it
// What a collection holds: its nodes by kind, and the edges that retrieval walks.
// mode: read
// $collection: STRING = 'default' - name of the collection
// -> kind: STRING - a label, or an edge between two labels
// -> number: INTEGER - how many
CALL () {
  MATCH (d:Document {collection: $collection})
  WITH count(d) AS nodes, sum(COUNT { (d)-[:ABOUT]->() }) AS edges
  UNWIND [[1, 'Document', nodes], [10, '(Document)-[:ABOUT]->(Entity)', edges]] AS row RETURN row
  UNION ALL
  MATCH (p:Passage {collection: $collection})
  WITH count(p) AS nodes, sum(COUNT { (p)-[:SIMILAR]->() }) AS edges
  UNWIND [[2, 'Passage', nodes], [11, '(Passage)-[:SIMILAR]->(Passage)', edges]] AS row RETURN row
  UNION ALL
  MATCH (e:Entity {collection: $collection}) WHERE e.df > 0 OR e.named
  WITH count(e) AS nodes, sum(e.df) AS edges
  UNWIND [[5, 'Entity', nodes], [12, '(Passage)-[:MENTIONS]->(Entity)', edges]] AS row RETURN row
  UNION ALL
  MATCH (k:Keyword {collection: $collection})
  WITH count(k) AS nodes, sum(k.df) AS edges
  UNWIND [[7, 'Keyword', nodes], [13, '(Passage)-[:HAS_KEYWORD]->(Keyword)', edges]] AS row RETURN row
  UNION ALL
  MATCH (e:Entity)-[s:SIMILAR]->() WHERE e.collection = $collection AND e.stemmed > ''
  RETURN [14, '(Entity)-[:SIMILAR]->(Entity)', count(s)] AS row
  UNION ALL MATCH (n:Page {collection: $collection}) RETURN [3, 'Page', count(n)] AS row
  UNION ALL MATCH (n:Table {collection: $collection}) RETURN [4, 'Table', count(n)] AS row
  UNION ALL MATCH (n:Figure {collection: $collection}) RETURN [4, 'Figure', count(n)] AS row
  UNION ALL
  MATCH (t:Triple {collection: $collection})
  WITH count(t) AS nodes, sum(COUNT { (t)<-[:STATES]-() }) AS states, sum(COUNT { (t)-[:SUBJECT]->() }) AS subjects, sum(COUNT { (t)-[:OBJECT]->() }) AS objects
  UNWIND [[6, 'Triple', nodes], [15, '(Passage)-[:STATES]->(Triple)', states], [16, '(Triple)-[:SUBJECT]->(Entity)', subjects], [17, '(Triple)-[:OBJECT]->(Entity)', objects]] AS row RETURN row
  UNION ALL MATCH (n:Word {collection: $collection}) RETURN [8, 'Word', count(n)] AS row
  UNION ALL MATCH (n:Run {collection: $collection}) RETURN [9, 'Run', count(n)] AS row
}
WITH row ORDER BY row[0]
WITH row[1] AS kind, row[2] AS number WHERE number > 0
RETURN kind, number
