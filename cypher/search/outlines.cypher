// The paths of headings of documents that text stands under, in their order; documents without headings are left out.
// mode: read
// $ids: LIST<STRING> - document ids
// -> document: STRING - document id
// -> paths: LIST<STRING> - paths of headings
UNWIND $ids AS id
MATCH (d:Document {id: id})
WITH id, split(d.outline, '\n') AS outline, COLLECT {
  MATCH (d)-[:HAS_PASSAGE]->(p:Passage) WHERE d.outline IS NULL AND p.section <> '' AND NOT EXISTS { (p)-[:OF_TABLE]->() }
  WITH p.section AS path, min(p.ordinal) AS ordinal
  RETURN path ORDER BY ordinal
} AS paths
WITH id, coalesce(outline, paths) AS paths WHERE size(paths) > 0
RETURN id AS document, paths
