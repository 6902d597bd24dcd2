// Note that the words and names of a collection are being written, which takes several transactions.
// mode: write
// $collection: STRING - name of the collection
MATCH (c:Collection {name: $collection})
SET c.counting = true
