// How many edges of each type leave the nodes of a collection, by the label that they leave.
// mode: read
// $collection: STRING - name of the collection
// -> source: STRING - label of the nodes that they leave
// -> type: STRING - relationship type
// -> number: INTEGER - relationships
CALL () {
  MATCH (n:Collection {name: $collection})-[r]->() RETURN 'Collection' AS source, type(r) AS type, count(r) AS number
  UNION ALL MATCH (n:Document {collection: $collection})-[r]->() RETURN 'Document' AS source, type(r) AS type, count(r) AS number
  UNION ALL MATCH (n:Page {collection: $collection})-[r]->() RETURN 'Page' AS source, type(r) AS type, count(r) AS number
  UNION ALL MATCH (n:Table {collection: $collection})-[r]->() RETURN 'Table' AS source, type(r) AS type, count(r) AS number
  UNION ALL MATCH (n:Passage {collection: $collection})-[r]->() RETURN 'Passage' AS source, type(r) AS type, count(r) AS number
  UNION ALL MATCH (n:Entity {collection: $collection})-[r]->() RETURN 'Entity' AS source, type(r) AS type, count(r) AS number
  UNION ALL MATCH (n:Triple {collection: $collection})-[r]->() RETURN 'Triple' AS source, type(r) AS type, count(r) AS number
  UNION ALL MATCH (n:Run {collection: $collection})-[r]->() RETURN 'Run' AS source, type(r) AS type, count(r) AS number
  UNION ALL MATCH (n:Step {collection: $collection})-[r]->() RETURN 'Step' AS source, type(r) AS type, count(r) AS number
}
RETURN source, type, number
