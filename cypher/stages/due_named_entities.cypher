// Put a corpus-wide stage on the list of every entity of a collection that a title or a triple names.
// mode: auto
// $collection: STRING - name of the collection
// $stage: STRING - name of the stage
MATCH (e:Entity {collection: $collection})
WHERE NOT $stage IN coalesce(e.todo, []) AND EXISTS { (e)<-[:ABOUT|SUBJECT|OBJECT]-() }
CALL (e) { SET e.todo = coalesce(e.todo, []) + [$stage] } IN TRANSACTIONS OF 5000 ROWS
