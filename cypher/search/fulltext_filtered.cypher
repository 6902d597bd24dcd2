// BM25 among the documents that pass a filter: every match is looked at, so no fitting passage is missed.
// mode: read
// $index: STRING - the collection's full-text index
// $query: STRING - Lucene query, special characters escaped
// $limit: INTEGER = 10 - rows wanted
// $where: MAP = {} - metadata key -> value as text
// $source: STRING = null - part of the document's source
// $since: DATETIME = null - documents written at or after this time
// -> hits: LIST<LIST<ANY>> - [passage id, BM25 score]
CALL db.index.fulltext.queryNodes($index, $query) YIELD node, score
MATCH (d:Document)-[:HAS_PASSAGE]->(node)
WHERE all(key IN keys($where) WHERE toString(d['meta_' + key]) = $where[key])
  AND ($source IS NULL OR d.source CONTAINS $source)
  AND ($since IS NULL OR d.updated >= $since)
WITH node.id AS id, score ORDER BY score DESC, id LIMIT $limit
RETURN collect([id, score]) AS hits
