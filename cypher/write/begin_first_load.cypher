// Note that the first documents of a collection are being written, which takes several transactions: nobody can use it.
// mode: write
// $collection: STRING - name of the collection
// $mark: STRING - what stands in place of the export that an import comes from
MATCH (c:Kgrag:Collection {id: $collection})
SET c.importing = $mark
