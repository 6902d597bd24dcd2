// GFM-RAG, exact: every fact of a collection once, however many passages state it.
// mode: read
// $collection: STRING - name of the collection
// -> subject: STRING - element id of its subject
// -> predicate: STRING - its predicate
// -> object: STRING - element id of its object
MATCH (:Document {collection: $collection})-[:HAS_PASSAGE]->(:Passage)-[:STATES]->(t:Triple)
MATCH (s:Entity)<-[:SUBJECT]-(t)-[:OBJECT]->(o:Entity)
WITH DISTINCT s, t.predicate AS predicate, o
RETURN elementId(s) AS subject, predicate, elementId(o) AS object
