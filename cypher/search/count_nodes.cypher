// How many nodes of each label a collection has.
// mode: read
// $collection: STRING - name of the collection
// -> label: STRING - label
// -> number: INTEGER - nodes
CALL () {
  MATCH (n:Document {collection: $collection}) RETURN 'Document' AS label, count(n) AS number
  UNION ALL MATCH (n:Page {collection: $collection}) RETURN 'Page' AS label, count(n) AS number
  UNION ALL MATCH (n:Table {collection: $collection}) RETURN 'Table' AS label, count(n) AS number
  UNION ALL MATCH (n:Passage {collection: $collection}) RETURN 'Passage' AS label, count(n) AS number
  UNION ALL MATCH (n:Entity {collection: $collection}) RETURN 'Entity' AS label, count(n) AS number
  UNION ALL MATCH (n:Keyword {collection: $collection}) RETURN 'Keyword' AS label, count(n) AS number
  UNION ALL MATCH (n:Word {collection: $collection}) RETURN 'Word' AS label, count(n) AS number
  UNION ALL MATCH (n:Triple {collection: $collection}) RETURN 'Triple' AS label, count(n) AS number
  UNION ALL MATCH (n:Run {collection: $collection}) RETURN 'Run' AS label, count(n) AS number
  UNION ALL MATCH (n:Step {collection: $collection}) RETURN 'Step' AS label, count(n) AS number
}
RETURN label, number
