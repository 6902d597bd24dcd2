// Every Entity of a collection: where counts, digests and deletes start.
// mode: schema
CREATE INDEX entity_collection IF NOT EXISTS FOR (n:Entity) ON (n.collection)
