// The pages and tables of a document, in their order, without what stands there.
// mode: read
// $id: STRING - document id
// -> pages: LIST<MAP> - {id, number, label, name}
// -> tables: LIST<MAP> - {id, number, caption, name, page, last_page}; page and last_page are null where none is known
MATCH (d:Kgrag:Document {id: $id})
RETURN COLLECT { MATCH (d)-[:HAS_PAGE]->(g:Page) RETURN g {.id, .number, .label, .name} ORDER BY g.number } AS pages,
       COLLECT { MATCH (d)-[:HAS_TABLE]->(t:Table) RETURN t {.id, .number, .caption, name: CASE WHEN t.caption <> '' THEN t.caption ELSE t.name END, .page, last_page: coalesce(t.last_page, t.page)} ORDER BY t.number } AS tables
