// How many nodes and edges a collection holds, edges that lead out of it among them.
// mode: read
// $collection: STRING - name of the collection
// -> number: INTEGER - nodes and edges
CALL () {
  MATCH (n:Collection {name: $collection}) RETURN n
  UNION ALL MATCH (n:Document {collection: $collection}) RETURN n
  UNION ALL MATCH (n:Page {collection: $collection}) RETURN n
  UNION ALL MATCH (n:Table {collection: $collection}) RETURN n
  UNION ALL MATCH (n:Passage {collection: $collection}) RETURN n
  UNION ALL MATCH (n:Keyword {collection: $collection}) RETURN n
  UNION ALL MATCH (n:Word {collection: $collection}) RETURN n
  UNION ALL MATCH (n:Entity {collection: $collection}) RETURN n
  UNION ALL MATCH (n:Triple {collection: $collection}) RETURN n
  UNION ALL MATCH (n:Run {collection: $collection}) RETURN n
  UNION ALL MATCH (n:Step {collection: $collection}) RETURN n
}
RETURN sum(1 + COUNT { (n)-->() }) AS number
