// The normalised names of entities, and which of them are titles.
// mode: read
// $ids: LIST<STRING> - entity ids
// -> name: STRING - normal form
// -> title: BOOLEAN - whether a title or heading bears it
UNWIND $ids AS id
MATCH (e:Kgrag:Entity {id: id})
RETURN e.normal AS name, EXISTS { (e)<-[:ABOUT]-() } AS title
