// Dense: the passages nearest to a vector; the index over-fetches, exact cosines decide. The index of Neo4j does not reach every
// passage from everywhere. So in a collection of few passages it is asked for 2,300 more, unless `write/reached` has shown that it
// finds the nearest without them. If it gives fewer than 900 of them, all others are scored, too.
// mode: read
// $index: STRING - the collection's vector index
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds the vector
// $vector: LIST<FLOAT> - the question's vector
// $candidates: INTEGER = 200 - over-fetch
// $few: INTEGER = 20000 - passages of a collection up to which it is asked for more
// $limit: INTEGER = 10 - rows wanted
// $scanned: INTEGER = 100000 - passages of a collection that may be scanned where the index does not reach some, or is unsure
// -> hits: LIST<LIST<ANY>> - [passage id, (1 + cosine) / 2]
// -> unsure: BOOLEAN - whether the index may be blind: most are as near as each other, as where many vectors are copies that lead to each other alone
OPTIONAL MATCH (c:Kgrag:Collection {id: $collection})
WITH coalesce(c.passages, 0) AS passages, CASE WHEN c.passages > $few OR c.reached = $embedding AND 50 * abs(c.passages - c.reached_passages) <= c.passages THEN $candidates ELSE $candidates + 2300 END AS reach,
     CASE WHEN c.passages <= $few THEN $limit + 50 ELSE $candidates END AS exact
CALL (reach) {
  CALL db.index.vector.queryNodes($index, reach, $vector) YIELD node
  RETURN collect(node) AS near
}
CALL (passages, reach, exact, near) {
  UNWIND near[0..exact] AS p
  RETURN p
  UNION ALL
  UNWIND CASE WHEN size(near) < reach AND size(near) < 900 AND size(near) < passages AND passages <= $scanned THEN [$collection] ELSE [] END AS unreached // else the planner looks up all passages first
  MATCH (p:Passage {collection: unreached}) WHERE p[$embedding] IS NOT NULL
  WITH near, collect(p) AS all
  UNWIND near + all AS p
  WITH p, count(*) AS times WHERE times = 1
  RETURN p
}
WITH passages, p.id AS id, vector.similarity.cosine(p[$embedding], $vector) AS score
ORDER BY score DESC, id
WITH max(passages) AS passages, collect([id, score]) AS top, count(DISTINCT round(score, 4)) AS apart
RETURN top[0..$limit] AS hits,
       coalesce(size(top) < passages AND passages <= $scanned, false) AND 2 * apart < size(top) AS unsure
