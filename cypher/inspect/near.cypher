// Pairs of passages of a collection that nearly say the same: SIMILAR with a high score, and texts that differ. In no
// order.
// mode: read
// $collection: STRING - name of the collection
// $near: FLOAT = 0.98 - score from which they do: (1 + cosine) / 2
// -> score: FLOAT - their score
// -> one: STRING - title and the beginning of the id of one
// -> other: STRING - of the other
MATCH (p:Passage {collection: $collection})-[s:SIMILAR]->(q:Passage)
WHERE s.score >= $near AND p.text <> q.text AND (p.id < q.id OR NOT EXISTS { (q)-[t:SIMILAR]->(p) WHERE t.score >= $near })
WITH s.score AS score, CASE WHEN p.id < q.id THEN p ELSE q END AS one, CASE WHEN p.id < q.id THEN q ELSE p END AS other
RETURN score, one.title + ' ' + left(one.id, 8) AS one, other.title + ' ' + left(other.id, 8) AS other
