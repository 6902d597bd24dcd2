// Every Page of a collection: where counts, digests and deletes start.
// mode: schema
CREATE INDEX page_collection IF NOT EXISTS FOR (n:Page) ON (n.collection)
