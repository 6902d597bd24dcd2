// The entities of a collection with their names.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - entity id
// -> name: STRING - its name
MATCH (e:Entity {collection: $collection})
RETURN e.id AS id, e.name AS name
