// The Entities of a collection that have a vector, but none in a slot.
// mode: read
// $collection: STRING - name of the collection
// $embedding: STRING - the slot's property
// -> id: STRING - Entity id
MATCH (n:Entity {collection: $collection})
WHERE n[$embedding] IS NULL AND (n.embedding IS NOT NULL OR n.embedding_b IS NOT NULL)
RETURN n.id AS id
