// Make edges of any type between nodes that are there.
// mode: write
// each: held
// $collection: STRING - name of their collection
// $rows: LIST<MAP> - start: STRING (id of a node, or name of a Collection); ends: MAP of label to LIST<MAP> of end, type, properties
// -> number: INTEGER - edges made
UNWIND $rows AS row
CALL (row) {
  MATCH (n:Kgrag:Collection {id: row.start}) RETURN n AS start
  UNION ALL
  MATCH (n:Kgrag:{label} {id: row.start}) RETURN n AS start
}
CALL (row) {
  UNWIND row.ends.{label} AS edge MATCH (n:Kgrag:{label} {id: edge.end}) RETURN edge, n AS end
}
WITH start, edge, end WHERE start.collection = $collection AND end.collection = $collection
CREATE (start)-[r:$(edge.type)]->(end)
SET r = edge.properties
RETURN count(r) AS number
