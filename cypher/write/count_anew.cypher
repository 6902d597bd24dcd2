// Have the corpus-wide stages visit all passages and names of a collection, whose counting was interrupted.
// mode: auto
// $collection: STRING - name of the collection
// $stages: LIST<STRING> - the stages of passages
CALL () {
  MATCH (p:Passage {collection: $collection}) RETURN p AS n, $stages AS todo
  UNION ALL
  MATCH (e:Entity {collection: $collection}) WHERE EXISTS { (e)<-[:ABOUT]-() } RETURN e AS n, ['titles', 'spread', 'similar'] AS todo
}
CALL (n, todo) { SET n.todo = todo } IN TRANSACTIONS OF 5000 ROWS
