// The Entities of a collection that a corpus-wide stage has yet to visit.
// mode: read
// $collection: STRING - name of the collection
// $stage: STRING - name of the stage
// -> id: STRING - Entity id
MATCH (n:Entity {collection: $collection})
WHERE n.todo IS NOT NULL AND $stage IN n.todo
RETURN n.id AS id ORDER BY id
