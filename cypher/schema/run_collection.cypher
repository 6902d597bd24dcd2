// Every Run of a collection: where counts, lists and deletes start.
// mode: schema
CREATE INDEX run_collection IF NOT EXISTS FOR (n:Run) ON (n.collection)
