// Return a row if a first load or the reading of the texts of a collection again was interrupted.
// mode: read
// $collection: STRING - name of the collection
// -> rereading: BOOLEAN - always true
MATCH (c:Kgrag:Collection {id: $collection}) WHERE c.stemmer = ''
RETURN true AS rereading
