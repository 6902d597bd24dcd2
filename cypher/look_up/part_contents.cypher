// What stands on pages and in tables: the name, the text and the passages. A table is its caption, if it has one, and its
// Markdown; on a page it stands behind its caption where the text holds this, else at the end.
// mode: read
// $ids: LIST<STRING> - ids of pages or tables
// -> name: STRING - its name; the caption of a table that has one
// -> text: STRING - its text
// -> passages: LIST<STRING> - ids of its passages
// source: KGP, section 4 (a page returns the passages that belong to it, a table its Markdown)
UNWIND $ids AS id
MATCH (g:Kgrag:Page {id: id})
WITH g, COLLECT { MATCH (g)-[:CONTAINS]->(t:Table) RETURN {mark: CASE WHEN t.caption <> '' THEN '\n\n' + t.caption + '\n\n' END, caption: coalesce(t.caption, ''), markdown: t.markdown} ORDER BY t.number } AS tables
RETURN g.name AS name,
       trim(reduce(text = '\n\n' + g.text + '\n\n', t IN tables | CASE WHEN text CONTAINS t.mark THEN replace(text, t.mark, t.mark + t.markdown + '\n\n') ELSE text + trim(t.caption + '\n\n' + t.markdown) + '\n\n' END)) AS text,
       COLLECT { MATCH (g)-[:CONTAINS]->(p:Passage) RETURN p.id ORDER BY p.ordinal } AS passages
UNION ALL
UNWIND $ids AS id
MATCH (t:Kgrag:Table {id: id})
RETURN CASE WHEN t.caption <> '' THEN t.caption ELSE t.name END AS name, CASE WHEN t.caption <> '' THEN t.caption + '\n\n' ELSE '' END + t.markdown AS text,
       COLLECT { MATCH (t)<-[:OF_TABLE]-(p:Passage) RETURN p.id ORDER BY p.ordinal } AS passages
