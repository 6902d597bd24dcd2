// Put a corpus-wide stage on the list of every passage of a collection.
// mode: auto
// $collection: STRING - name of the collection
// $stage: STRING - name of the stage
MATCH (p:Passage {collection: $collection})
WHERE NOT $stage IN coalesce(p.todo, [])
CALL (p) { SET p.todo = coalesce(p.todo, []) + [$stage] } IN TRANSACTIONS OF 5000 ROWS
