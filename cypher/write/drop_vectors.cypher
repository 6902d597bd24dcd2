// Remove the vectors in one slot of every node of a label in a collection.
// mode: auto
// label: embedded
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds them
MATCH (n:{label} {collection: $collection}) WHERE n[$embedding] IS NOT NULL
CALL (n) { SET n[$embedding] = null } IN TRANSACTIONS OF 2000 ROWS
