// title: Passages: near-duplicates
// Pairs of near-duplicate passages, such as copies and versions, as `kgrag inspect` counts them, the most similar first.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $score: FLOAT = 0.98 - score from which a pair counts: (1 + cosine) / 2
// $limit: INTEGER = 25 - rows wanted
// -> score: FLOAT - (1 + cosine) / 2
// -> title: STRING - title of the one
// -> other: STRING - title of the other
// -> path: PATH - the two, to be drawn
MATCH (p:Passage {collection: $collection})-[s:SIMILAR]->(q:Passage) WHERE s.score >= $score
WITH p, s, q ORDER BY s.score DESC LIMIT toInteger(2 * $limit)
WITH CASE WHEN p.id < q.id THEN p ELSE q END AS one, CASE WHEN p.id < q.id THEN q ELSE p END AS two, s
WITH one, two, head(collect(s)) AS s ORDER BY s.score DESC, one.id LIMIT toInteger($limit)
MATCH path = (one)-[s]-(two)
RETURN s.score AS score, one.name AS title, two.name AS other, path ORDER BY score DESC, title, other
