// Every Step of a collection: where counts and deletes start.
// mode: schema
CREATE INDEX step_collection IF NOT EXISTS FOR (n:Step) ON (n.collection)
