// Remove the vectors in one slot of every Triple of a collection.
// mode: auto
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds them
MATCH (n:Triple {collection: $collection}) WHERE n[$embedding] IS NOT NULL
CALL (n) { SET n[$embedding] = null } IN TRANSACTIONS OF 2000 ROWS
