// Remove every node of a label from a collection, a few thousand in a transaction.
// mode: auto
// label: held
// $collection: STRING - name of the collection
MATCH (n:{label} {collection: $collection})
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 2000 ROWS
