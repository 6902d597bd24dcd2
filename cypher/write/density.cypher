// Record the share of a collection's passages that mention two names or more that can serve as bridges; and the same
// without mentions known only from triples (density0). For a large collection, both are estimated from a sample.
// mode: write
// $collection: STRING - name of the collection
// $cap: INTEGER = 50 - passages that a bridge may have
// $below: STRING - the sample: passages whose ids, which are hashes, come before it; null for all of them
MATCH (c:Kgrag:Collection {id: $collection})
CALL () {
  WITH 1 AS all WHERE $below IS NULL
  MATCH (p:Passage {collection: $collection})
  RETURN collect(p) AS passages
}
CALL () {
  WITH 1 AS sample WHERE $below IS NOT NULL
  MATCH (p:Kgrag:Passage) USING INDEX p:Kgrag(id) WHERE p.id < $below AND p.collection = $collection
  RETURN collect(p) AS some
}
WITH c, passages + some AS passages
CALL (passages) {
  UNWIND passages AS p
  WITH p WHERE COUNT { (p)-[:MENTIONS]->(e:Entity) WHERE e.df > 1 AND e.df <= $cap } > 1
  RETURN count(p) AS joining
}
CALL (passages, joining) {
  WITH joining WHERE NOT EXISTS { (:Triple {collection: $collection}) }
  RETURN joining AS joining0
  UNION ALL
  WITH passages WHERE EXISTS { (:Triple {collection: $collection}) }
  CALL (passages) {
    UNWIND passages AS p
    MATCH (p)-[m:MENTIONS]->(e:Entity) WHERE m.via <> 'triple' AND e.df > 1
    WITH e, collect(p) AS its
    WHERE COUNT { MATCH (e)<-[o:MENTIONS]-(:Passage) WHERE o.via <> 'triple' RETURN o LIMIT $cap + 1 } IN range(2, $cap)
    UNWIND its AS p
    WITH p, count(*) AS names WHERE names > 1
    RETURN count(p) AS joining0
  }
  RETURN joining0
}
WITH c, joining, joining0, CASE size(passages) WHEN 0 THEN 1.0 ELSE toFloat(size(passages)) END AS passages
SET c.density = joining / passages, c.density0 = joining0 / passages
