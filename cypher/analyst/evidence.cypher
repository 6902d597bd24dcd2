// title: Triples: the evidence behind one
// The triples that fit some words best, each with the passage that states it, its document and its two ends; to be read
// and drawn.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $fact: STRING = 'Fram designed by' - words of the triple, or any Lucene query
// $limit: INTEGER = 25 - rows wanted
// -> fact: STRING - the triple
// -> title: STRING - title of the passage that states it
// -> page: INTEGER - its page, null in a document without pages
// -> text: STRING - the passage
// -> source: STRING - where its document was read
// -> evidence: PATH - document, passage, triple
// -> ends: PATH - subject, triple, object
MATCH (c:Kgrag:Collection {id: $collection})
CALL db.index.fulltext.queryNodes('triple_text_c' + c.number, $fact, {limit: toInteger($limit)}) YIELD node AS t, score
MATCH evidence = (d:Document)-[:HAS_PASSAGE]->(p:Passage)-[:STATES]->(t)
MATCH ends = (:Entity)<-[:SUBJECT]-(t)-[:OBJECT]->(:Entity)
RETURN t.text AS fact, p.name AS title, p.page AS page, p.text AS text, d.source AS source, evidence, ends
ORDER BY score DESC, fact
