// Every Entity that a corpus-wide stage has yet to visit; nodes without work left are not in the index.
// mode: schema
CREATE INDEX entity_todo IF NOT EXISTS FOR (n:Entity) ON (n.collection, n.todo)
