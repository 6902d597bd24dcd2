// Note on a collection that the links between its documents are found; nothing is noted where no document has any.
// mode: write
// $collection: STRING - name of the collection
MATCH (c:Kgrag:Collection {id: $collection})
SET c.linked = CASE WHEN EXISTS { (d:Document {collection: $collection}) WHERE d.meta_links IS NOT NULL } THEN true END
