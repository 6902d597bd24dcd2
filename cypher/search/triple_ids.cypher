// The triples that documents' passages state now.
// mode: read
// $ids: LIST<STRING> - document ids
// -> document: STRING - document id
// -> triple: STRING - triple id
UNWIND $ids AS id
MATCH (:Document {id: id})-[:HAS_PASSAGE]->(:Passage)-[:STATES]->(t:Triple)
RETURN id AS document, t.id AS triple
