// Record what a collection holds once all of its first documents are written.
// mode: write
// $collection: STRING - name of the collection
// $totals: MAP - passages, class, density, density0, linked
MATCH (c:Kgrag:Collection {id: $collection})
SET c += $totals
REMOVE c.importing
