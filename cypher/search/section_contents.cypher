// The passages of a document that stand under some headings, in their order; rows of tables apart.
// mode: read
// $document: STRING - document id
// $paths: LIST<STRING> - paths of headings
// -> id: STRING - passage id
// -> path: STRING - path of headings
// -> text: STRING - text
MATCH (:Document {id: $document})-[:HAS_PASSAGE]->(p:Passage)
WHERE p.section IN $paths AND NOT EXISTS { (p)-[:OF_TABLE]->() }
RETURN p.id AS id, p.section AS path, p.text AS text ORDER BY p.ordinal, id
