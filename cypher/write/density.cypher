// Record the share of a collection's passages that mention two names or more that can serve as bridges.
// mode: write
// $collection: STRING - name of the collection
// $cap: INTEGER = 50 - passages that a bridge may have
MATCH (c:Collection {name: $collection})
CALL () {
  MATCH (p:Passage {collection: $collection})
  WITH sum(CASE WHEN COUNT { (p)-[:MENTIONS]->(e:Entity) WHERE e.df > 1 AND e.df <= $cap } > 1 THEN 1.0 ELSE 0.0 END) AS joining, count(p) AS passages
  RETURN CASE WHEN passages > 0 THEN joining / passages ELSE 0.0 END AS density
}
SET c.density = density
