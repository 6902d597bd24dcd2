// How many nodes of a collection the corpus-wide stages have yet to visit, and what its full-text indexes count in vain.
// mode: read
// each: worked
// $collection: STRING - name of the collection
// -> number: INTEGER - nodes with work left, the collection one of them
// -> unlinked: BOOLEAN - whether the links between its documents are to be found again
// -> stale: INTEGER - passages and triples that were removed since these indexes were made
// -> passages: INTEGER - passages of the collection, as of the last finished ingest
CALL () {
  MATCH (n:{label} {collection: $collection}) WHERE n.todo IS NOT NULL RETURN count(n) AS number
}
WITH sum(number) AS number
OPTIONAL MATCH (c:Kgrag:Collection {id: $collection})
WITH number, c, coalesce(NOT c.linked, false) AS unlinked
RETURN number + CASE WHEN unlinked THEN 1 ELSE 0 END AS number, unlinked, coalesce(c.stale, 0) AS stale, coalesce(c.passages, 0) AS passages
