// Passages of other documents that a name ties to given ones: the first passage of a document that bears the name as its
// title, and passages that mention the name, too. Names that many passages mention tie nothing and are passed over.
// mode: read
// $ids: LIST<STRING> - passage ids
// $most: INTEGER = 20 - passages that may mention a name
// $limit: INTEGER = 20 - bridges of each kind and passage
// -> id: STRING - one of the passages
// -> kind: STRING - title: the other document is named so; mention: the other passage mentions it, too
// -> name: STRING - the name
// -> other: STRING - id of the other passage
UNWIND $ids AS id
MATCH (d:Document)-[:HAS_PASSAGE]->(p:Kgrag:Passage {id: id})
CALL (d, p) {
  MATCH (p)-[:MENTIONS]->(e:Entity)<-[:ABOUT]-(o:Document)
  WHERE o <> d AND e.df <= $most
  WITH DISTINCT e, o ORDER BY e.id, o.id LIMIT $limit
  MATCH (o)-[:HAS_PASSAGE]->(q:Passage {ordinal: 0})
  RETURN 'title' AS kind, e.name AS name, q.id AS other
  UNION ALL
  MATCH (p)-[:MENTIONS]->(e:Entity)
  WHERE 1 < e.df <= $most
  MATCH (e)<-[:MENTIONS]-(q:Passage)
  WHERE NOT (d)-[:HAS_PASSAGE]->(q)
  WITH e, q ORDER BY e.id, q.id LIMIT $limit
  RETURN 'mention' AS kind, e.name AS name, q.id AS other
}
RETURN id, kind, name, other ORDER BY id, kind, name, other
