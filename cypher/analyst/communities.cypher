// title: Topics: communities of a name
// The communities of a name (`kgrag enrich communities`), the finest first; without a name, those of the coarsest level.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $starting: STRING = '' - beginning of a name, in any case; empty: all communities of the coarsest level
// $limit: INTEGER = 25 - rows wanted
// -> community: STRING - its topic
// -> level: INTEGER - 0 for the coarsest
// -> size: INTEGER - names in it
// -> names: LIST<STRING> - its key names
// -> report: STRING - the report on it
// -> nodes: LIST<NODE> - it, and some of its names and parts, to be drawn
CALL () {
  WITH 1 AS one WHERE $starting = ''
  MATCH (c:Community {collection: $collection}) WHERE c.level = 0
  RETURN c
  UNION
  WITH 1 AS one WHERE $starting <> ''
  MATCH (e:Entity {collection: $collection}) WHERE e.normal STARTS WITH toLower($starting)
  MATCH (e)-[:IN_COMMUNITY]->()-[:PART_OF*0..6]->(c)
  RETURN c
}
WITH DISTINCT c ORDER BY c.level DESC, c.size DESC, c.id LIMIT toInteger($limit)
CALL (c) {
  MATCH (c)<-[:IN_COMMUNITY|PART_OF]-(n)
  WITH n ORDER BY n.df DESC, n.name LIMIT 12
  RETURN collect(n) AS members
}
RETURN c.name AS community, c.level AS level, c.size AS size, c.names AS names, c.text AS report, c + members AS nodes
