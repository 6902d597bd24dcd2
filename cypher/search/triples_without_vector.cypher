// The Triples of a collection that have no vector in a slot.
// mode: read
// $collection: STRING - name of the collection
// $embedding: STRING - the slot's property
// -> id: STRING - Triple id
MATCH (n:Triple {collection: $collection}) WHERE n[$embedding] IS NULL
RETURN n.id AS id
