// The entities of a list whose names are searched for in texts: names of titles, and phrases of two passages or more.
// mode: read
// $ids: LIST<STRING> - entity ids
// -> name: STRING - normal form
// -> title: BOOLEAN - whether a title or heading bears it
UNWIND $ids AS id
MATCH (e:Kgrag:Entity {id: id})
WITH e, EXISTS { (e)<-[:ABOUT]-() } AS title
WHERE e.phrases > 1 OR title
RETURN e.normal AS name, title
