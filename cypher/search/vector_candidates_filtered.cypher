// Dense among the documents that pass a filter: only the nearest candidates are looked at, so some may be missed.
// mode: read
// $index: STRING - the collection's vector index
// $embedding: STRING - property that holds the vector
// $vector: LIST<FLOAT> - the question's vector
// $candidates: INTEGER = 1000 - over-fetch
// $limit: INTEGER = 10 - rows wanted
// $where: MAP = {} - metadata key -> value as text
// $source: STRING = null - part of the document's source
// $since: DATETIME = null - documents written at or after this time
// -> hits: LIST<LIST<ANY>> - [passage id, (1 + cosine) / 2]
CALL db.index.vector.queryNodes($index, $candidates, $vector) YIELD node
MATCH (d:Document)-[:HAS_PASSAGE]->(node)
WHERE all(key IN keys($where) WHERE toString(d['meta_' + key]) = $where[key])
  AND ($source IS NULL OR d.source CONTAINS $source)
  AND ($since IS NULL OR d.updated >= $since)
WITH node.id AS id, vector.similarity.cosine(node[$embedding], $vector) AS score
ORDER BY score DESC, id LIMIT $limit
RETURN collect([id, score]) AS hits
