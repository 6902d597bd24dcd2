// Every Table of a collection: where counts, digests and deletes start.
// mode: schema
CREATE INDEX table_collection IF NOT EXISTS FOR (n:Table) ON (n.collection)
