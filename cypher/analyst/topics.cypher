// title: Topics: the tree of summaries
// The summaries of a collection (`kgrag enrich tree`), or those under one summary, the largest first.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $under: STRING = '' - beginning of the name of a summary; empty: those of the highest level
// $limit: INTEGER = 25 - rows wanted
// -> topic: STRING - its title
// -> level: INTEGER - 1 above passages
// -> members: INTEGER - passages or summaries right under it
// -> text: STRING - the summary
// -> nodes: LIST<NODE> - it and its direct members, to be drawn
CALL () {
  MATCH (s:Summary {collection: $collection}) RETURN max(s.level) AS top
}
MATCH (s:Summary {collection: $collection})
WHERE ($under = '' AND s.level = top) OR $under <> '' AND EXISTS { (p:Summary)-[:SUMMARISES]->(s) WHERE p.name STARTS WITH $under }
MATCH (s)-[r:SUMMARISES]->(n)
WITH s, n ORDER BY r.weight DESC, n.name
WITH s, collect(n) AS members
RETURN s.name AS topic, s.level AS level, size(members) AS members, s.text AS text, s + members[0..10] AS nodes
ORDER BY members DESC, topic LIMIT toInteger($limit)
