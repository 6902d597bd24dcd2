// The passages of a document in their order, its tables, and its figures.
// mode: read
// $collection: STRING - name of the collection
// $key: STRING - key of the document
// $limit: INTEGER - passages, tables and figures, at most
// -> ids: LIST<STRING> - ids of the passages
// -> passages: INTEGER - how many there are
// -> tables: LIST<MAP> - {number, caption, page, markdown}
// -> figures: LIST<MAP> - {id, number, caption, page, width, height, media_type}; no row when there is no such document
MATCH (d:Document {collection: $collection, key: $key})
RETURN COLLECT { MATCH (d)-[:HAS_PASSAGE]->(p:Passage) WHERE p.ordinal IS NOT NULL RETURN p.id ORDER BY p.ordinal LIMIT toInteger($limit) } AS ids,
       COUNT { (d)-[:HAS_PASSAGE]->(p) WHERE p.ordinal IS NOT NULL } AS passages,
       COLLECT { MATCH (d)-[:HAS_TABLE]->(t:Table) RETURN t {.number, caption: CASE WHEN t.caption <> '' THEN t.caption ELSE t.name END, .page, .markdown} ORDER BY t.number LIMIT toInteger($limit) } AS tables,
       COLLECT { MATCH (d)-[:SHOWS|HAS_PAGE*1..2]->(f:Figure) RETURN f {.id, .number, caption: f.name, .page, .width, .height, .media_type} ORDER BY f.number LIMIT toInteger($limit) } AS figures
