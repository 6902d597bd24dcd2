// Return two names, in normal form, that a guide leads between. Passages mention the first, which is not a hub, and a
// document is about it if possible. No passage mentions the second beside the first, but a third name ties the two.
// Without such a name, the second stands in a passage with the first; it is null if the first stands alone.
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
