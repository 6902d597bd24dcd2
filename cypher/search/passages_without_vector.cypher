// The Passages of a collection that have no vector in a slot.
// mode: read
// $collection: STRING - name of the collection
// $embedding: STRING - the slot's property
// -> id: STRING - Passage id
MATCH (n:Passage {collection: $collection}) WHERE n[$embedding] IS NULL
RETURN n.id AS id
