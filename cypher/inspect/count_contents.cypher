// How many nodes and edges a collection holds, edges that lead out of it among them.
// mode: read
// each: held
// $collection: STRING - name of the collection
// -> number: INTEGER - nodes and edges
CALL () {
  MATCH (n:Kgrag:Collection {id: $collection}) RETURN n
  UNION ALL
  MATCH (n:{label} {collection: $collection}) RETURN n
}
RETURN sum(1 + COUNT { (n)-->() }) AS number
