// Record the share of a collection's passages that mention two names or more that can serve as bridges; and the same
// without the mentions that are known from triples alone (density0).
// mode: write
// $collection: STRING - name of the collection
// $cap: INTEGER = 50 - passages that a bridge may have
MATCH (c:Collection {name: $collection})
CALL () {
  MATCH (p:Passage {collection: $collection})
  WITH sum(CASE WHEN COUNT { (p)-[:MENTIONS]->(e:Entity) WHERE e.df > 1 AND e.df <= $cap } > 1 THEN 1.0 ELSE 0.0 END) AS joining, count(p) AS passages
  RETURN CASE WHEN passages > 0 THEN joining / passages ELSE 0.0 END AS density
}
CALL (c, density) {
  WITH c, density WHERE NOT EXISTS { (:Triple {collection: $collection}) }
  RETURN density AS density0
  UNION
  WITH c WHERE EXISTS { (:Triple {collection: $collection}) }
  CALL () {
    MATCH (e:Entity {collection: $collection}) WHERE e.df > 1
    MATCH (e)<-[m:MENTIONS]-(p:Passage) WHERE m.via <> 'triple'
    WITH e, collect(p) AS passages WHERE size(passages) > 1 AND size(passages) <= $cap
    UNWIND passages AS p
    WITH p, count(*) AS names WHERE names > 1
    RETURN count(p) AS joining
  }
  CALL () { MATCH (p:Passage {collection: $collection}) RETURN count(p) AS passages }
  RETURN CASE WHEN passages > 0 THEN joining * 1.0 / passages ELSE 0.0 END AS density0
}
SET c.density = density, c.density0 = density0
