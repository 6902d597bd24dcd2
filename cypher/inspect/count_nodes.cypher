// How many nodes of each label a collection has.
// mode: read
// each: held
// $collection: STRING - name of the collection
// -> label: STRING - label
// -> number: INTEGER - nodes
CALL () {
  MATCH (n:{label} {collection: $collection}) RETURN '{label}' AS label, count(n) AS number
}
RETURN label, number
