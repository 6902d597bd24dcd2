// Record what a collection holds once all its words and names are written.
// mode: write
// $collection: STRING - name of the collection
// $totals: MAP - passages, class, density, density0, linked, stemmer
MATCH (c:Kgrag:Collection {id: $collection})
SET c += $totals
