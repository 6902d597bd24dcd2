// Pairs of entities of a collection that may be one and the same: names that are SIMILAR with a high score, or differ
// in their endings alone, and are not tied as one.
// mode: read
// $collection: STRING - name of the collection
// $near: FLOAT = 0.98 - score from which names are candidates: (1 + cosine) / 2
// $limit: INTEGER = 5 - examples wanted
// -> number: INTEGER - pairs
// -> examples: LIST<STRING> - their names, those that are mentioned most first
CALL () {
  MATCH (a:Entity {collection: $collection})-[s:SIMILAR]->(b:Entity) WHERE s.score >= $near
  RETURN CASE WHEN a.id < b.id THEN a ELSE b END AS one, CASE WHEN a.id < b.id THEN b ELSE a END AS other
  UNION
  MATCH (e:Entity {collection: $collection}) WHERE e.stemmed IS NOT NULL
  WITH e ORDER BY e.id
  WITH e.stemmed AS stemmed, collect(e) AS names WHERE size(names) > 1
  UNWIND range(1, size(names) - 1) AS place
  UNWIND names[..place] AS one
  RETURN one, names[place] AS other
}
WITH one, other WHERE NOT EXISTS { (one)-[:SAME_AS]-(other) }
WITH one, other ORDER BY one.df + other.df DESC, one.normal, other.normal
RETURN count(*) AS number, collect(one.name + ' = ' + other.name)[..$limit] AS examples
