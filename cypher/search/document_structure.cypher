// The pages, tables and headings of documents, in their order, without what stands there.
// mode: read
// $ids: LIST<STRING> - document ids
// -> document: STRING - document id
// -> pages: LIST<MAP> - {id, number, label, name}
// -> tables: LIST<MAP> - {id, number, caption, name, page, last_page}
// -> sections: LIST<MAP> - {path (of headings)}
UNWIND $ids AS id
MATCH (d:Document {id: id})
WITH id, d, COLLECT {
  MATCH (d)-[:HAS_PASSAGE]->(p:Passage) WHERE d.outline IS NULL AND p.section <> '' AND NOT EXISTS { (p)-[:OF_TABLE]->() }
  WITH p.section AS path, min(p.ordinal) AS ordinal
  RETURN path ORDER BY ordinal
} AS paths
RETURN id AS document,
       COLLECT { MATCH (d)-[:HAS_PAGE]->(g:Page) RETURN g {.id, .number, .label, .name} ORDER BY g.number } AS pages,
       COLLECT { MATCH (d)-[:HAS_TABLE]->(t:Table) RETURN t {.id, .number, .caption, name: CASE WHEN t.caption <> '' THEN t.caption ELSE t.name END, .page, .last_page} ORDER BY t.number } AS tables,
       [path IN coalesce(split(d.outline, '\n'), paths) | {path: path}] AS sections
