// Remove the vectors in one slot of every Entity of a collection.
// mode: auto
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds them
MATCH (n:Entity {collection: $collection}) WHERE n[$embedding] IS NOT NULL
CALL (n) { SET n[$embedding] = null } IN TRANSACTIONS OF 2000 ROWS
