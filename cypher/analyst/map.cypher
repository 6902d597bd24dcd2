// title: Collection: a map of its names
// The names that most passages mention, and the passages that tie two of them together: few enough nodes to be read when
// they are drawn. Names of more passages than $cap, which tie everything to everything, are left out.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $cap: INTEGER = 50 - passages that a name may have to lead on
// $names: INTEGER = 20 - names on the map
// $limit: INTEGER = 25 - ties wanted
// -> name: STRING - the one name
// -> other: STRING - the other
// -> together: INTEGER - passages that mention both
// -> path: PATH - one of these passages between the two, to be drawn
MATCH (e:Entity {collection: $collection}) WHERE e.df > 1 AND e.df <= $cap
WITH e ORDER BY e.df DESC, e.normal LIMIT toInteger($names)
WITH collect(e) AS names
UNWIND names AS a
MATCH (a)<-[:MENTIONS]-(p:Passage)-[:MENTIONS]->(b:Entity) WHERE b IN names AND a.normal < b.normal
WITH a, b, count(p) AS together, min(p.id) AS id
ORDER BY together DESC, a.normal, b.normal LIMIT toInteger($limit)
MATCH path = (a)<-[:MENTIONS]-(:Kgrag:Passage {id: id})-[:MENTIONS]->(b)
RETURN a.name AS name, b.name AS other, together, path ORDER BY together DESC, name, other
