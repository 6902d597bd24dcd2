// What the corpus-wide stages have yet to do in a collection.
// mode: read
// $collection: STRING - name of the collection
// -> label: STRING - label of the nodes
// -> stage: STRING - name of the stage
// -> number: INTEGER - nodes that it has yet to visit
CALL () {
  MATCH (n:Passage {collection: $collection}) WHERE n.todo IS NOT NULL
  UNWIND n.todo AS stage RETURN 'Passage' AS label, stage, count(*) AS number
  UNION ALL
  MATCH (n:Entity {collection: $collection}) WHERE n.todo IS NOT NULL
  UNWIND n.todo AS stage RETURN 'Entity' AS label, stage, count(*) AS number
  UNION ALL
  MATCH (n:Word {collection: $collection}) WHERE n.todo IS NOT NULL
  UNWIND n.todo AS stage RETURN 'Word' AS label, stage, count(*) AS number
}
RETURN label, stage, number
