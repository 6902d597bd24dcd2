// The documents that have pages or tables (or headings, if wanted) and pass a filter, in the order of their keys.
// mode: read
// $collection: STRING - name of the collection
// $sections: BOOLEAN = false - whether headings count, too
// $where: MAP = {} - metadata key -> value as text
// $source: STRING = null - part of the document's source
// $since: DATETIME = null - documents written at or after this time
// $limit: INTEGER = 5000 - documents at most
// -> id: STRING - document id
// -> key: STRING - its key
// -> title: STRING - its title
// -> source: STRING - its source
// -> pages: INTEGER - how many it has
// -> tables: INTEGER - how many it has
MATCH (d:Document {collection: $collection})
WHERE (EXISTS { (d)-[:HAS_PAGE|HAS_TABLE]->() } OR ($sections AND (d.outline IS NOT NULL OR EXISTS { (d)-[:HAS_PASSAGE]->(p:Passage) WHERE p.section <> '' AND NOT EXISTS { (p)-[:OF_TABLE]->() } })))
  AND all(key IN keys($where) WHERE toString(d['meta_' + key]) = $where[key])
  AND ($source IS NULL OR d.source CONTAINS $source)
  AND ($since IS NULL OR d.updated >= $since)
RETURN d.id AS id, d.key AS key, d.title AS title, d.source AS source,
       COUNT { (d)-[:HAS_PAGE]->() } AS pages, COUNT { (d)-[:HAS_TABLE]->() } AS tables
ORDER BY key LIMIT $limit
