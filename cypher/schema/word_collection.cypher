// Every Word of a collection: where counts, digests and deletes start.
// mode: schema
CREATE INDEX word_collection IF NOT EXISTS FOR (n:Word) ON (n.collection)
