// Return a row if the texts of a collection were being read again when that was interrupted.
// mode: read
// $collection: STRING - name of the collection
// -> rereading: BOOLEAN - always true
MATCH (c:Collection {name: $collection}) WHERE c.stemmer = ''
RETURN true AS rereading
