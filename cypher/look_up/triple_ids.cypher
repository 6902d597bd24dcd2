// The triples that documents gave their passages; those that were only extracted are left out.
// mode: read
// $ids: LIST<STRING> - document ids
// -> document: STRING - document id
// -> triple: STRING - triple id
UNWIND $ids AS id
MATCH (:Document {id: id})-[:HAS_PASSAGE]->(:Passage)-[:STATES]->(t:Triple) WHERE t.given IS NULL
RETURN id AS document, t.id AS triple
