// BM25: the passages of a collection that match a Lucene query, best first.
// mode: read
// $index: STRING - the collection's full-text index
// $query: STRING - Lucene query, special characters escaped
// $limit: INTEGER = 10 - rows wanted
// $embedding: STRING = null - property that holds the vector
// $vector: LIST<FLOAT> = null - the question's vector
// -> hits: LIST<LIST<ANY>> - [passage id, BM25 score, (1 + cosine) / 2 or null]
CALL db.index.fulltext.queryNodes($index, $query, {limit: $limit}) YIELD node, score
WITH node.id AS id, score, vector.similarity.cosine(node[$embedding], $vector) AS nearness ORDER BY score DESC, id
RETURN collect([id, score, nearness]) AS hits
