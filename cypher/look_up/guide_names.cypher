// Two names to show a collection by, in normal form: one that passages mention, no hub, if possible of a document that is
// about it; and one that no passage mentions together with it, but that a passage with a common name leads to. If there is
// no such name, the other is one beside the first; null if that stands alone.
// mode: read
// $collection: STRING - name of the collection
// $cap: INTEGER = 50 - passages that the first name may have
// -> start: STRING - the first name
// -> goal: STRING - the other
MATCH (e:Entity {collection: $collection}) WHERE e.df > 0
WITH e ORDER BY e.df > $cap, EXISTS { (e)<-[:ABOUT]-(:Document)-[:HAS_PASSAGE]->(:Passage)-[:MENTIONS]->(e) } DESC, e.ntit > 0 DESC, e.df DESC, e.normal LIMIT 20
OPTIONAL CALL (e) {
  MATCH (e)<-[:MENTIONS]-(p:Passage)
  WITH e, p ORDER BY p.id LIMIT 10
  MATCH (p)-[:MENTIONS]->(bridge:Entity) WHERE bridge <> e AND bridge.df <= $cap
  WITH DISTINCT e, bridge ORDER BY bridge.df > 1 DESC, bridge.df, bridge.normal LIMIT 20
  OPTIONAL MATCH (bridge)<-[:MENTIONS]-(:Passage)-[:MENTIONS]->(other:Entity) WHERE other <> e
  WITH DISTINCT e, coalesce(other, bridge) AS goal
  WITH goal, EXISTS { (e)<-[:MENTIONS]-(:Passage)-[:MENTIONS]->(goal) } AS beside
  ORDER BY beside, goal.ntit DESC, goal.df DESC, goal.normal LIMIT 1
  RETURN goal, beside
}
RETURN e.normal AS start, goal.normal AS goal ORDER BY coalesce(beside, true), goal IS NULL LIMIT 1
