// The names of a collection that are looked for in texts: of titles, and phrases of two passages or more.
// mode: read
// $collection: STRING - name of the collection
// -> name: STRING - normal form
// -> title: BOOLEAN - whether a title or heading bears it
MATCH (e:Entity {collection: $collection})
WITH e, EXISTS { (e)<-[:ABOUT]-() } AS title
WHERE e.phrases > 1 OR title
RETURN e.normal AS name, title
