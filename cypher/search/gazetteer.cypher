// The names of a collection that are looked for in texts: of titles, of triples, and phrases of two passages or more.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - entity id
// -> word: STRING - the name if it is a single word, else null
MATCH (e:Entity {collection: $collection})
WHERE e.phrases > 1 OR EXISTS { (e)<-[:ABOUT|SUBJECT|OBJECT]-() }
RETURN e.id AS id, CASE WHEN e.normal CONTAINS ' ' THEN null ELSE e.normal END AS word
