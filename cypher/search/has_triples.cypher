// Whether a collection holds triples.
// mode: read
// $collection: STRING - name of the collection
// -> found: BOOLEAN - whether it does
RETURN EXISTS { MATCH (:Triple {collection: $collection}) } AS found
