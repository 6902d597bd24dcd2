// Mark the links between the documents of a collection as to be found again, if any document has some.
// mode: write
// $collection: STRING - name of the collection
MATCH (c:Kgrag:Collection {id: $collection}) WHERE c.linked
SET c.linked = false
