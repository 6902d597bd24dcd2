// Dense: the passages nearest to a vector; the index over-fetches, exact cosines decide.
// mode: read
// $index: STRING - the collection's vector index
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds the vector
// $vector: LIST<FLOAT> - the question's vector
// $candidates: INTEGER = 200 - over-fetch
// $limit: INTEGER = 10 - rows wanted
// $scanned: INTEGER = 100000 - passages of a collection that may be scanned in place of an unsure index
// -> hits: LIST<LIST<ANY>> - [passage id, (1 + cosine) / 2]
// -> unsure: BOOLEAN - whether the index may be blind: it gives fewer than it has, or most as near as each other, as where many vectors are copies that lead to each other alone
CALL db.index.vector.queryNodes($index, $candidates, $vector) YIELD node
WITH node.id AS id, vector.similarity.cosine(node[$embedding], $vector) AS score
ORDER BY score DESC, id
WITH collect([id, score]) AS found, count(DISTINCT round(score, 4)) AS apart
OPTIONAL MATCH (c:Collection {name: $collection})
RETURN found[0..$limit] AS hits,
       coalesce(size(found) < c.passages AND c.passages <= $scanned, false)
         AND (size(found) < $candidates OR 2 * apart < size(found)) AS unsure
