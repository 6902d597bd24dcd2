// How many nodes of a collection the corpus-wide stages have yet to visit.
// mode: read
// each: worked
// $collection: STRING - name of the collection
// -> number: INTEGER - nodes with work left
CALL () {
  MATCH (n:{label} {collection: $collection}) WHERE n.todo IS NOT NULL RETURN count(n) AS number
}
RETURN sum(number) AS number
