// Note that the words and names of a collection are being written, which takes several transactions: a killed load has
// its texts read again.
// mode: write
// $collection: STRING - name of the collection
MATCH (c:Kgrag:Collection {id: $collection})
SET c.stemmer = ''
