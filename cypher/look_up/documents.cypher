// Documents of a collection in the order of their keys, a page at a time, with counts of their parts. The index on
// collection and key yields this order, so nothing is sorted.
// mode: read
// $collection: STRING - name of the collection
// $after: STRING - the key after which to go on; empty: from the first
// $words: LIST<STRING> - in small letters: each stands in the key or the title; empty for all documents
// $limit: INTEGER - documents wanted
// -> key: STRING - the user's own id of the document, or its path
// -> title: STRING - its title, which may be empty
// -> source: STRING - where it came from
// -> passages: INTEGER - passages
// -> pages: INTEGER - pages, 0 where it has none
// -> tables: INTEGER - tables
// -> updated: DATETIME - when it was last written
// -> file: STRING - the file that it was read from, or null
// -> problems: STRING - what could not be read of that file, one a line, on the last of its documents; else null
MATCH (d:Document {collection: $collection})
WHERE d.key > $after AND all(word IN $words WHERE toLower(d.key) CONTAINS word OR toLower(d.title) CONTAINS word)
WITH d ORDER BY d.collection, d.key LIMIT $limit
RETURN d.key AS key, d.title AS title, d.source AS source, COUNT { (d)-[:HAS_PASSAGE]->() } AS passages,
       COUNT { (d)-[:HAS_PAGE]->() } AS pages, COUNT { (d)-[:HAS_TABLE]->() } AS tables, d.updated AS updated,
       d.file AS file, d.file_problems AS problems
ORDER BY d.collection, d.key
