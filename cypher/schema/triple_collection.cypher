// Every Triple of a collection: where counts, digests and deletes start.
// mode: schema
CREATE INDEX triple_collection IF NOT EXISTS FOR (n:Triple) ON (n.collection)
