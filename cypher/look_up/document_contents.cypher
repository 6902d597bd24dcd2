// The passages of a document in their order, and its tables.
// mode: read
// $collection: STRING - name of the collection
// $key: STRING - key of the document
// $limit: INTEGER - passages, and tables, at most
// -> ids: LIST<STRING> - ids of the passages
// -> passages: INTEGER - how many there are
// -> tables: LIST<MAP> - {number, caption, page, markdown}; no row when there is no such document
MATCH (d:Document {collection: $collection, key: $key})
RETURN COLLECT { MATCH (d)-[:HAS_PASSAGE]->(p:Passage) WHERE p.ordinal IS NOT NULL RETURN p.id ORDER BY p.ordinal LIMIT toInteger($limit) } AS ids,
       COUNT { (d)-[:HAS_PASSAGE]->(p) WHERE p.ordinal IS NOT NULL } AS passages,
       COLLECT { MATCH (d)-[:HAS_TABLE]->(t:Table) RETURN t {.number, caption: CASE WHEN t.caption <> '' THEN t.caption ELSE t.name END, .page, .markdown} ORDER BY t.number LIMIT toInteger($limit) } AS tables
