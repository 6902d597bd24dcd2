// The Entities of a collection that a title or a triple names, and that have no vector in a slot.
// mode: read
// $collection: STRING - name of the collection
// $embedding: STRING - the slot's property
// -> id: STRING - Entity id
// -> normal: STRING - its normalised name
MATCH (e:Entity {collection: $collection})
WHERE e[$embedding] IS NULL AND EXISTS { (e)<-[:ABOUT|SUBJECT|OBJECT]-() }
RETURN e.id AS id, e.normal AS normal
