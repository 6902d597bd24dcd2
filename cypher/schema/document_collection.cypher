// Every Document of a collection: where counts, digests and deletes start.
// mode: schema
CREATE INDEX document_collection IF NOT EXISTS FOR (n:Document) ON (n.collection)
