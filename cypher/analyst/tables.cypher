// title: Tables: by what stands in them
// The tables that contain a text, with their rows in Markdown.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $content: STRING = '' - text in the table, in any case; empty: every table
// $limit: INTEGER = 25 - rows wanted
// -> document: STRING - title of the document
// -> page: INTEGER - its page, null in a document without pages
// -> caption: STRING - its caption, or its number
// -> markdown: STRING - the table
// -> path: PATH - document and table, to be drawn
MATCH (t:Table {collection: $collection})
WHERE toLower(t.markdown) CONTAINS toLower($content) OR toLower(t.caption) CONTAINS toLower($content)
MATCH path = (d:Document)-[:HAS_TABLE]->(t)
RETURN d.name AS document, t.page AS page, t.name AS caption, t.markdown AS markdown, path
ORDER BY document, t.number LIMIT toInteger($limit)
