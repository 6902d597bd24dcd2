// The pages, tables and headings of documents, in their order, without what stands there.
// mode: read
// $ids: LIST<STRING> - document ids
// -> document: STRING - document id
// -> pages: LIST<MAP> - {id, number, label, name}
// -> tables: LIST<MAP> - {id, number, caption, name, page, last_page}
// -> sections: LIST<MAP> - {path (of headings), ordinal (of its first passage)}
UNWIND $ids AS id
MATCH (d:Document {id: id})
RETURN id AS document,
       COLLECT { MATCH (d)-[:HAS_PAGE]->(g:Page) RETURN g {.id, .number, .label, .name} ORDER BY g.number } AS pages,
       COLLECT { MATCH (d)-[:HAS_TABLE]->(t:Table) RETURN t {.id, .number, .caption, .name, .page, .last_page} ORDER BY t.number } AS tables,
       COLLECT {
         MATCH (d)-[:HAS_PASSAGE]->(p:Passage) WHERE p.section <> '' AND NOT EXISTS { (p)-[:OF_TABLE]->() }
         WITH p.section AS path, min(p.ordinal) AS ordinal
         RETURN {path: path, ordinal: ordinal} ORDER BY ordinal
       } AS sections
