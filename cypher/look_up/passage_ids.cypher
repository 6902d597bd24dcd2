// The passages that documents have now.
// mode: read
// $ids: LIST<STRING> - document ids
// -> document: STRING - document id
// -> passage: STRING - passage id
UNWIND $ids AS id
MATCH (:Kgrag:Document {id: id})-[:HAS_PASSAGE]->(p:Passage)
RETURN id AS document, p.id AS passage
