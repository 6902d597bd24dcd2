// title: Documents: the largest
// Documents with the number of their parts, the longest first.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $limit: INTEGER = 25 - rows wanted
// -> title: STRING - title, or key
// -> passages: INTEGER - passages
// -> pages: INTEGER - pages, 0 where it has none
// -> tables: INTEGER - tables
// -> source: STRING - where it was read
// -> updated: DATETIME - when it was written to the graph
MATCH (d:Document {collection: $collection})
WITH d, COUNT { (d)-[:HAS_PASSAGE]->() } AS passages ORDER BY passages DESC, d.name LIMIT toInteger($limit)
RETURN d.name AS title, passages, COUNT { (d)-[:HAS_PAGE]->() } AS pages, COUNT { (d)-[:HAS_TABLE]->() } AS tables,
       d.source AS source, d.updated AS updated
ORDER BY passages DESC, title
