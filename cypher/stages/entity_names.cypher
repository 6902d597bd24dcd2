// The normalised names of entities.
// mode: read
// $ids: LIST<STRING> - entity ids
// -> id: STRING - entity id
// -> normal: STRING - normalised name
UNWIND $ids AS id
MATCH (e:Entity {id: id})
RETURN id, e.normal AS normal
