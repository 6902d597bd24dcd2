// Where names stand: the documents that hold them, those whose titles they are, and the other names of their passages.
// mode: read
// $ids: LIST<STRING> - entity ids
// $most: INTEGER = 50 - passages of a name that are looked at
// $cap: INTEGER = 50 - passages that another name may have to say something
// -> id: STRING - entity id
// -> documents: LIST<STRING> - ids of documents
// -> alone: LIST<STRING> - those in whose texts it stands by itself, not only within a longer name
// -> titles: LIST<STRING> - ids of documents whose title it is, without what only a part of one says
// -> company: LIST<STRING> - entity ids
UNWIND $ids AS id
MATCH (e:Kgrag:Entity {id: id})
CALL (e) {
  MATCH (e)<-[m:MENTIONS]-(p:Passage)
  WITH m, p ORDER BY p.id LIMIT $most
  MATCH (d:Document)-[:HAS_PASSAGE]->(p)
  RETURN collect(p) AS passages, collect(DISTINCT d.id) AS documents,
         collect(DISTINCT CASE WHEN m.positions IS NOT NULL OR (m.via = 'phrase' AND NOT e.normal CONTAINS ' ') THEN d.id END) AS alone
}
CALL (e, passages) {
  UNWIND passages AS p
  MATCH (p)-[:MENTIONS]->(f:Entity) WHERE f <> e AND f.df <= $cap
  WITH DISTINCT f.id AS other ORDER BY other LIMIT 4 * $most
  RETURN collect(other) AS company
}
CALL (e) {
  MATCH (e)<-[t:ABOUT]-(d:Document) WHERE t.weight >= 0.8
  WITH d.id AS title ORDER BY title LIMIT $most
  RETURN collect(title) AS titles
}
RETURN id, documents, alone, titles, company
