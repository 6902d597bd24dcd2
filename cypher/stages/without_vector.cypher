// The nodes of a label in a collection that have no vector in a slot.
// mode: read
// label: embedded
// $collection: STRING - name of the collection
// $embedding: STRING - the slot's property
// $sparse: BOOLEAN - only nodes with a vector in the other slot, since not every node of the label gets one
// -> id: STRING - id of a node
MATCH (n:{label} {collection: $collection})
WHERE n[$embedding] IS NULL AND (NOT $sparse OR n.embedding IS NOT NULL OR n.embedding_b IS NOT NULL)
RETURN n.id AS id
