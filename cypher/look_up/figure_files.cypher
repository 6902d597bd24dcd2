// The pictures that a collection's figures have.
// mode: read
// $collection: STRING - name of the collection
// -> sha: STRING - hash of a picture
MATCH (f:Figure {collection: $collection})
RETURN DISTINCT f.sha AS sha
