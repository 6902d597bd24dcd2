// Whether the words and names of a collection were being written when that was interrupted.
// mode: read
// $collection: STRING - name of the collection
// -> counting: BOOLEAN - always true; no row when they were not
MATCH (c:Collection {name: $collection}) WHERE c.counting
RETURN c.counting AS counting
