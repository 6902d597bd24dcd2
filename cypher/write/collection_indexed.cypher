// Record that the indexes of a collection are made.
// mode: write
// $name: STRING - name of the collection
MATCH (c:Collection {name: $name}) SET c.indexed = true
