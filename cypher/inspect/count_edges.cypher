// How many edges of each type leave the nodes of a collection, by the label that they leave.
// mode: read
// each: held
// $collection: STRING - name of the collection
// $but: LIST<STRING> = [] - labels whose edges are not wanted
// -> source: STRING - label of the nodes that they leave
// -> type: STRING - relationship type
// -> number: INTEGER - relationships
CALL () {
  MATCH (n:Kgrag:Collection {id: $collection})-[r]->() RETURN 'Collection' AS source, type(r) AS type, count(r) AS number
  UNION ALL
  MATCH (n:{label} {collection: $collection})-[r]->() WHERE NOT '{label}' IN $but RETURN '{label}' AS source, type(r) AS type, count(r) AS number
}
RETURN source, type, number ORDER BY type
