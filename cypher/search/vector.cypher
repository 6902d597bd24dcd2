// Dense: the passages nearest to a vector; the index over-fetches, exact cosines decide.
// mode: read
// $index: STRING - the collection's vector index
// $embedding: STRING - property that holds the vector
// $vector: LIST<FLOAT> - the question's vector
// $candidates: INTEGER = 200 - over-fetch
// $limit: INTEGER = 10 - rows wanted
// -> hits: LIST<LIST<ANY>> - [passage id, (1 + cosine) / 2]
CALL db.index.vector.queryNodes($index, $candidates, $vector) YIELD node
WITH node.id AS id, vector.similarity.cosine(node[$embedding], $vector) AS score
ORDER BY score DESC, id LIMIT $limit
RETURN collect([id, score]) AS hits
