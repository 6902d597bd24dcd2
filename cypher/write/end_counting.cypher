// Record what a collection holds once all its words and names are written.
// mode: write
// $collection: STRING - name of the collection
// $totals: MAP - passages, class, density, density0, linked, stemmer
MATCH (c:Collection {name: $collection})
SET c += $totals
