// The pending work of the corpus-wide stages in a collection.
// mode: read
// each: worked
// $collection: STRING - name of the collection
// -> label: STRING - label of the nodes
// -> stage: STRING - name of the stage
// -> number: INTEGER - nodes that it has yet to visit
CALL () {
  MATCH (n:{label} {collection: $collection}) WHERE n.todo IS NOT NULL UNWIND n.todo AS stage RETURN '{label}' AS label, stage, count(*) AS number
}
RETURN label, stage, number
