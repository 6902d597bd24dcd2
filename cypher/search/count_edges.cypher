// How many edges of each type leave the nodes of a collection (HOLDS left out).
// mode: read
// $collection: STRING - name of the collection
// -> type: STRING - relationship type
// -> number: INTEGER - relationships
CALL () {
  MATCH (n:Document {collection: $collection})-[r]->() RETURN type(r) AS type, count(r) AS number
  UNION ALL MATCH (n:Page {collection: $collection})-[r]->() RETURN type(r) AS type, count(r) AS number
  UNION ALL MATCH (n:Passage {collection: $collection})-[r]->() RETURN type(r) AS type, count(r) AS number
  UNION ALL MATCH (n:Entity {collection: $collection})-[r]->() RETURN type(r) AS type, count(r) AS number
  UNION ALL MATCH (n:Triple {collection: $collection})-[r]->() RETURN type(r) AS type, count(r) AS number
  UNION ALL MATCH (n:Run {collection: $collection})-[r]->() RETURN type(r) AS type, count(r) AS number
  UNION ALL MATCH (n:Step {collection: $collection})-[r]->() RETURN type(r) AS type, count(r) AS number
}
RETURN type, number ORDER BY type
