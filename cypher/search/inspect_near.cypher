// Pairs of passages of a collection that nearly say the same: SIMILAR with a high score, and texts that differ.
// mode: read
// $collection: STRING - name of the collection
// $near: FLOAT = 0.98 - score from which they do: (1 + cosine) / 2
// $limit: INTEGER = 5 - examples wanted
// -> number: INTEGER - pairs
// -> examples: LIST<STRING> - their titles, ids and scores, the nearest first
MATCH (p:Passage {collection: $collection})-[s:SIMILAR]->(q:Passage)
WHERE s.score >= $near AND p.text <> q.text
WITH CASE WHEN p.id < q.id THEN p ELSE q END AS one, CASE WHEN p.id < q.id THEN q ELSE p END AS other, max(s.score) AS score
WITH one, other, score ORDER BY score DESC, one.title, other.title
RETURN count(*) AS number,
       collect(one.title + ' ' + left(one.id, 8) + ' = ' + other.title + ' ' + left(other.id, 8) + ' (' + toString(round(score, 3)) + ')')[..$limit] AS examples
