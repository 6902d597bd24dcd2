// How many entities of a collection have a vector in a slot.
// mode: read
// $collection: STRING - name of the collection
// $embedding: STRING - the slot's property
// -> number: INTEGER - entities
MATCH (e:Entity {collection: $collection})
WHERE e[$embedding] IS NOT NULL
RETURN count(e) AS number
