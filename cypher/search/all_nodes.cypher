// Every node of a collection with all its properties, the collection itself first.
// mode: read
// $collection: STRING - name of the collection
// -> labels: LIST<STRING> - its labels, such as Passage_c7 among them
// -> properties: MAP - its properties
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
RETURN labels(n) AS labels, properties(n) AS properties
