// Which entities are names that one passage alone holds: links may lead to them, bridges never lead over them.
// mode: read
// $ids: LIST<STRING> - entity ids
// -> id: STRING - id of an entity that is
UNWIND $ids AS id
MATCH (e:Entity {id: id}) WHERE e.phrases = 1
RETURN id
