// Forget the counts of a collection's words: they are counted again.
// mode: auto
// $collection: STRING - name of the collection
MATCH (w:Word {collection: $collection})
CALL (w) { SET w.df = 0, w.class = -1, w.upper = 0, w.lower = 0 } IN TRANSACTIONS OF 5000 ROWS
