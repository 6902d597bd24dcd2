// The ids of every entity of a collection.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - entity id
MATCH (e:Entity {collection: $collection}) RETURN e.id AS id
