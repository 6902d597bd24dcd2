// The names of a collection that are looked for in texts: of titles, and phrases of two passages or more.
// mode: read
// $collection: STRING - name of the collection
// -> name: STRING - normal form
MATCH (e:Entity {collection: $collection})
WHERE e.phrases > 1 OR EXISTS { (e)<-[:ABOUT]-() }
RETURN e.normal AS name
