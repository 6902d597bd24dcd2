// Every Word that a corpus-wide stage has yet to visit; nodes without work left are not in the index.
// mode: schema
CREATE INDEX word_todo IF NOT EXISTS FOR (n:Word) ON (n.collection, n.todo)
