// What tables hold: their Markdown, and the passages that their rows are written out in.
// mode: read
// $ids: LIST<STRING> - table ids
// -> id: STRING - table id
// -> name: STRING - its caption, or its name
// -> caption: STRING - its caption, or empty
// -> markdown: STRING - the table
// -> passages: LIST<STRING> - ids of its passages
// source: KGP, section 4 (a table returns its Markdown)
UNWIND $ids AS id
MATCH (t:Table {id: id})
RETURN id, CASE WHEN t.caption <> '' THEN t.caption ELSE t.name END AS name, t.caption AS caption, t.markdown AS markdown,
       COLLECT { MATCH (t)<-[:OF_TABLE]-(p:Passage) RETURN p.id ORDER BY p.ordinal } AS passages
