// Two names to show a collection by, in normal form: one that a title bears and passages mention, no hub, and one that no
// passage mentions together with it, but that a passage with a common name leads to (null if there is none).
// mode: read
// $collection: STRING - name of the collection
// $cap: INTEGER = 50 - passages that the first name may have
// -> start: STRING - the first name
// -> goal: STRING - the other
MATCH (e:Entity {collection: $collection}) WHERE e.ntit > 0
WITH e ORDER BY e.df > $cap, e.df DESC, e.normal LIMIT 1
OPTIONAL CALL (e) {
  MATCH (e)<-[:MENTIONS]-(p:Passage)
  WITH e, p ORDER BY p.id LIMIT 10
  MATCH (p)-[:MENTIONS]->(bridge:Entity) WHERE bridge <> e AND bridge.df > 1 AND bridge.df <= $cap
  WITH DISTINCT e, bridge ORDER BY bridge.df, bridge.normal LIMIT 20
  MATCH (bridge)<-[:MENTIONS]-(:Passage)-[:MENTIONS]->(other:Entity)
  WHERE other <> e AND NOT EXISTS { (e)<-[:MENTIONS]-(:Passage)-[:MENTIONS]->(other) }
  WITH DISTINCT other ORDER BY other.ntit DESC, other.df DESC, other.normal LIMIT 1
  RETURN other.normal AS goal
}
RETURN e.normal AS start, goal
