// Remove the node of a collection that holds nothing any more.
// mode: write
// $collection: STRING - name of the collection
MATCH (c:Collection {name: $collection}) DETACH DELETE c
