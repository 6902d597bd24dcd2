// Every Keyword of a collection: where counts, digests and deletes start.
// mode: schema
CREATE INDEX keyword_collection IF NOT EXISTS FOR (n:Keyword) ON (n.collection)
