// title: Collection: a map of its names
// The names that most passages mention, and the passages that connect two of them; if these are few, the surroundings of
// such a name. It returns few enough nodes to draw. It compares 50,000 names at most, and reads $cap passages of each.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $cap: INTEGER = 50 - passages of a name that are looked at
// $names: INTEGER = 20 - names on the map
// $limit: INTEGER = 25 - ties wanted
// -> name: STRING - the one name
// -> other: STRING - the other; null where a passage mentions one name alone
// -> together: INTEGER - passages that mention both, among the passages that were read
// -> path: PATH - one of these passages between the two, to be drawn
MATCH (e:Entity {collection: $collection})
WITH e LIMIT 50000
WITH e ORDER BY coalesce(e.df, 0) DESC, e.normal LIMIT toInteger($names)
WITH collect(e) AS names
UNWIND names AS a
CALL (a) {
  MATCH (a)<-[:MENTIONS]-(p:Passage) RETURN p LIMIT toInteger($cap)
}
OPTIONAL MATCH (p)-[:MENTIONS]->(b:Entity) WHERE b <> a
WITH a, b, p, coalesce(b IN names, false) AS top
WITH top, p, CASE WHEN top AND b.normal < a.normal THEN [b, a] ELSE [a, b] END AS ends
WITH top, ends[0] AS one, ends[1] AS two, count(DISTINCT p) AS together, min(p.id) AS id
ORDER BY top DESC, two IS NOT NULL DESC, together DESC, coalesce(two.df, 0) DESC, one.normal, two.normal LIMIT toInteger($limit)
CALL (one, two, id) {
  MATCH path = (one)<-[:MENTIONS]-(:Kgrag:Passage {id: id})-[:MENTIONS]->(two) RETURN path
  UNION ALL
  MATCH path = (one)<-[:MENTIONS]-(:Kgrag:Passage {id: id}) WHERE two IS NULL RETURN path
}
RETURN one.name AS name, two.name AS other, together, path ORDER BY together DESC, name, other
