// BM25: the passages of a collection that match a Lucene query, best first.
// mode: read
// $index: STRING - the collection's full-text index
// $query: STRING - Lucene query, special characters escaped
// $limit: INTEGER = 10 - rows wanted
// -> id: STRING - passage id
// -> score: FLOAT - BM25 score
CALL db.index.fulltext.queryNodes($index, $query, {limit: $limit}) YIELD node, score
RETURN node.id AS id, score ORDER BY score DESC, id
