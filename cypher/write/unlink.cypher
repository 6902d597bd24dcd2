// Mark the links between the documents of a collection as to be found again, if any document has some.
// mode: write
// $collection: STRING - name of the collection
// $any: BOOLEAN - whether it is known, or possible, that one has
MATCH (c:Kgrag:Collection {id: $collection}) WHERE $any OR c.linked
SET c.linked = false
