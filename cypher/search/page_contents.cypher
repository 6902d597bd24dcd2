// What stands on pages: the text, the tables and the passages.
// mode: read
// $ids: LIST<STRING> - page ids
// -> id: STRING - page id
// -> text: STRING - its text, without tables
// -> tables: LIST<MAP> - {name, caption, markdown}
// -> passages: LIST<STRING> - ids of its passages
// source: KGP, section 4 (a page returns the passages that belong to it)
UNWIND $ids AS id
MATCH (g:Page {id: id})
RETURN id, g.text AS text,
       COLLECT { MATCH (g)-[:CONTAINS]->(t:Table) RETURN t {name: CASE WHEN t.caption <> '' THEN t.caption ELSE t.name END, .caption, .markdown} ORDER BY t.number } AS tables,
       COLLECT { MATCH (g)-[:CONTAINS]->(p:Passage) RETURN p.id ORDER BY p.ordinal } AS passages
