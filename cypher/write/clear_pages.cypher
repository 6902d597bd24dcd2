// Remove every Page of a collection, a few thousand in a transaction.
// mode: auto
// $collection: STRING - name of the collection
MATCH (n:Page {collection: $collection})
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 2000 ROWS
