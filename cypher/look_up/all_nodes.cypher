// Every node of a collection with all its properties, the collection itself first.
// mode: read
// each: held
// $collection: STRING - name of the collection
// -> label: STRING - its label
// -> labels: LIST<STRING> - all its labels, such as Passage_c7 among them
// -> properties: MAP - its properties
CALL () {
  MATCH (n:Kgrag:Collection {id: $collection}) RETURN 'Collection' AS label, n
  UNION ALL
  MATCH (n:{label} {collection: $collection}) RETURN '{label}' AS label, n
}
RETURN label, labels(n) AS labels, properties(n) AS properties
