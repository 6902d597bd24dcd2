// title: Entities: candidates to be merged
// Pairs of names that may mean the same: their vectors are near, or they differ in their endings alone, or Wikipedia
// knows both as one. The likeliest first.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $resemblance: FLOAT = 0.9 - score from which two names resemble each other: (1 + cosine) / 2
// $limit: INTEGER = 25 - rows wanted
// -> name: STRING - the one
// -> passages: INTEGER - passages that mention it
// -> other: STRING - the other
// -> other_passages: INTEGER - passages that mention that
// -> score: FLOAT - how much the names resemble each other, null if they do not
// -> shared: LIST<STRING> - what else speaks for it
// -> nodes: LIST<NODE> - both, to be drawn
CALL () {
  MATCH (a:Entity)-[s:SIMILAR]->(b:Entity)
  WHERE a.collection = $collection AND a.stemmed > '' AND s.score >= $resemblance
  RETURN CASE WHEN a.id < b.id THEN a ELSE b END AS a, CASE WHEN a.id < b.id THEN b ELSE a END AS b, s.score AS score, null AS shared
  UNION ALL
  MATCH (e:Entity) WHERE e.collection = $collection AND e.stemmed > ''
  WITH e.stemmed AS stemmed, count(*) AS names WHERE names > 1
  MATCH (a:Entity {collection: $collection, stemmed: stemmed})
  MATCH (b:Entity {collection: $collection, stemmed: stemmed}) WHERE a.id < b.id
  RETURN a, b, null AS score, 'the same stems' AS shared
  UNION ALL
  MATCH (e:Entity) WHERE e.collection = $collection AND e.stemmed > '' AND e.wikipedia IS NOT NULL
  WITH e.wikipedia AS article, collect(e) AS names WHERE size(names) > 1
  UNWIND names AS a
  UNWIND names AS b
  WITH a, b WHERE a.id < b.id
  RETURN a, b, null AS score, 'the same article' AS shared
}
WITH a, b, max(score) AS score, collect(shared) AS shared ORDER BY coalesce(score, $resemblance) + 0.02 * size(shared) DESC, a.id, b.id LIMIT toInteger($limit)
WITH CASE WHEN a.df >= b.df THEN a ELSE b END AS one, CASE WHEN a.df >= b.df THEN b ELSE a END AS two, score, shared
RETURN one.name AS name, one.df AS passages, two.name AS other, two.df AS other_passages, score, shared, [one, two] AS nodes
