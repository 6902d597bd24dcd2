// Mark a collection as being removed, so that nobody opens what is left of it.
// mode: write
// $collection: STRING - name of the collection
MATCH (c:Collection {name: $collection}) SET c.removing = true
