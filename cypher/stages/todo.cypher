// The nodes of a label in a collection that a corpus-wide stage has yet to visit.
// mode: read
// label: worked
// $collection: STRING - name of the collection
// $stage: STRING - name of the stage
// -> id: STRING - id of a node
MATCH (n:{label} {collection: $collection})
WHERE n.todo IS NOT NULL AND $stage IN n.todo
RETURN n.id AS id ORDER BY id
