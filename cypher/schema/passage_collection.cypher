// Every Passage of a collection: where counts, digests and deletes start.
// mode: schema
CREATE INDEX passage_collection IF NOT EXISTS FOR (n:Passage) ON (n.collection)
