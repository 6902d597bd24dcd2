// The names of a collection that titles or triples give, or that TAGME linked to an article.
// mode: read
// $collection: STRING - name of the collection
// -> normal: STRING - the name in normal form
// -> wikipedia: STRING - the title of the Wikipedia article on it, or null
MATCH (e:Entity {collection: $collection}) WHERE e.named OR e.ntit > 0 OR e.wikipedia IS NOT NULL
RETURN e.normal AS normal, e.wikipedia AS wikipedia
