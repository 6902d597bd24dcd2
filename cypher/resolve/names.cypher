// The names of a collection that some passage or title bears, to be compared with each other.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - entity id
// -> name: STRING - its name as written
// -> wikipedia: STRING - the title of the Wikipedia article on it, or null
// -> apart: LIST<STRING> - normal forms of names that are of others, or null
MATCH (e:Entity {collection: $collection}) WHERE e.df > 0 OR e.ntit > 0
RETURN e.id AS id, e.name AS name, e.wikipedia AS wikipedia, e.apart AS apart
