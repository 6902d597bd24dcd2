// Every Passage that a corpus-wide stage has yet to visit; nodes without work left are not in the index.
// mode: schema
CREATE INDEX passage_todo IF NOT EXISTS FOR (n:Passage) ON (n.collection, n.todo)
