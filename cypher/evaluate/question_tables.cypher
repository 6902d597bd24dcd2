// Tables of a collection, to make questions from; ids are hashes, so a limit takes them at random.
// mode: read
// $collection: STRING - name of the collection
// $limit: INTEGER = 10000 - tables at most
// -> document: STRING - the document's key
// -> title: STRING - the document's title, or its name
// -> table: STRING - the table's caption, or its name
// -> number: INTEGER - its place among the document's tables
// -> markdown: STRING - the table
MATCH (t:Table {collection: $collection})
WITH t ORDER BY t.id LIMIT $limit
MATCH (d:Document)-[:HAS_TABLE]->(t)
RETURN d.key AS document, CASE d.title WHEN '' THEN d.name ELSE d.title END AS title,
       CASE t.caption WHEN '' THEN t.name ELSE t.caption END AS table, t.number AS number, t.markdown AS markdown
