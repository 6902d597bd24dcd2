// Forget the words of a collection: they are counted again.
// mode: auto
// $collection: STRING - name of the collection
MATCH (w:Word {collection: $collection})
CALL (w) { DETACH DELETE w } IN TRANSACTIONS OF 5000 ROWS
