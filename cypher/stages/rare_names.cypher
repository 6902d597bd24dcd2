// Which entities are names that one passage alone holds: links may lead to them, bridges never lead over them.
// mode: read
// $ids: LIST<STRING> - entity ids
// -> ids: LIST<STRING> - ids of the rare names
UNWIND $ids AS id
MATCH (e:Kgrag:Entity {id: id}) WHERE e.phrases = 1
RETURN collect(id) AS ids
