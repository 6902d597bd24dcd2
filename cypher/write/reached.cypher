// Record on a collection of few passages whether the vector index finds the nearest ones when it is asked for 200. The sum of the
// vectors of two passages stands for a question: the ten nearest of 2,500 neighbours are to be the ten nearest of 200. This is
// measured again when the number of passages has changed by a fiftieth.
// mode: write
// $collection: STRING - name of the collection
// $index: STRING - its vector index
// $embedding: STRING - property that holds vectors
// $few: INTEGER = 20000 - passages of a collection up to which this is measured
// $pairs: INTEGER = 40 - pairs of passages, by their ids
// -> reached: STRING - the property for which it does; else "no " and the property
MATCH (c:Kgrag:Collection {id: $collection})
WHERE 900 < c.passages <= $few
  AND NOT (coalesce(c.reached, '') ENDS WITH $embedding AND 50 * abs(c.passages - c.reached_passages) <= c.passages)
CALL () {
  MATCH (p:Passage {collection: $collection}) WHERE p[$embedding] IS NOT NULL
  WITH p[$embedding] AS vector ORDER BY p.id LIMIT 2 * $pairs
  RETURN collect(vector) AS vectors
}
CALL (vectors) {
  UNWIND range(0, size(vectors) / 2 - 1) AS i
  WITH [j IN range(0, size(vectors[0]) - 1) | vectors[2 * i][j] + vectors[2 * i + 1][j]] AS asked
  UNWIND CASE WHEN any(x IN asked WHERE x <> 0) THEN [200, 2500] ELSE [] END AS reach
  CALL (asked, reach) {
    CALL db.index.vector.queryNodes($index, reach, asked) YIELD node
    WITH vector.similarity.cosine(node[$embedding], asked) AS score ORDER BY score DESC LIMIT 10
    RETURN collect(score) AS near
  }
  WITH asked, collect(near) AS near
  RETURN all(same IN collect(near[0] = near[1]) WHERE same) AS found
}
SET c.reached = CASE WHEN found THEN '' ELSE 'no ' END + $embedding, c.reached_passages = c.passages
RETURN c.reached AS reached
