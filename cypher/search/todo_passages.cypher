// The Passages of a collection that a corpus-wide stage has yet to visit.
// mode: read
// $collection: STRING - name of the collection
// $stage: STRING - name of the stage
// -> id: STRING - Passage id
MATCH (n:Passage {collection: $collection})
WHERE n.todo IS NOT NULL AND $stage IN n.todo
RETURN n.id AS id ORDER BY id
