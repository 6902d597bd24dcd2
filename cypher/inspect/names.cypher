// Pairs of entities of a collection that may be one and the same: names that are SIMILAR with a high score, or differ
// in their endings alone, and are not tied as one. In no order; those with the same stems come in the order of the index
// on them, so that only the names of one stem are held at a time.
// mode: read
// $collection: STRING - name of the collection
// $near: FLOAT = 0.98 - score from which names are candidates: (1 + cosine) / 2
// -> df: INTEGER - passages that mention the one or the other, those with both counted twice
// -> one: STRING - name of one
// -> other: STRING - name of the other
CALL () {
  MATCH (a:Entity {collection: $collection})-[s:SIMILAR]->(b:Entity)
  WHERE s.score >= $near AND coalesce(a.stemmed <> b.stemmed, true)
    AND (a.id < b.id OR NOT EXISTS { (b)-[t:SIMILAR]->(a) WHERE t.score >= $near })
  RETURN CASE WHEN a.id < b.id THEN a ELSE b END AS one, CASE WHEN a.id < b.id THEN b ELSE a END AS other
  UNION ALL
  MATCH (e:Entity {collection: $collection}) WHERE e.stemmed IS NOT NULL
  WITH e ORDER BY e.collection, e.stemmed
  WITH e.collection AS collection, e.stemmed AS stemmed, collect(e) AS names WHERE size(names) > 1
  UNWIND names AS one
  UNWIND names AS other
  WITH one, other WHERE one.id < other.id
  RETURN one, other
}
WITH one, other WHERE NOT EXISTS { (one)-[:SAME_AS]-(other) }
RETURN one.df + other.df AS df, one.name AS one, other.name AS other
