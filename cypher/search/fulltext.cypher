// BM25: the passages of a collection that match a Lucene query, best first.
// mode: read
// $index: STRING - the collection's full-text index
// $query: STRING - Lucene query, special characters escaped
// $limit: INTEGER = 10 - rows wanted
// -> hits: LIST<LIST<ANY>> - [passage id, BM25 score]
CALL db.index.fulltext.queryNodes($index, $query, {limit: $limit}) YIELD node, score
WITH node.id AS id, score ORDER BY score DESC, id
RETURN collect([id, score]) AS hits
