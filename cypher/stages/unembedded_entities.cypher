// The entities of a list that have no vector in a slot, with the text of that vector.
// mode: read
// $ids: LIST<STRING> - entity ids
// $embedding: STRING - the slot's property
// -> id: STRING - entity id
// -> normal: STRING - normalised name
UNWIND $ids AS id
MATCH (e:Kgrag:Entity {id: id}) WHERE e[$embedding] IS NULL
RETURN id, e.normal AS normal
