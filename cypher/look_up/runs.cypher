// The runs that are kept of a collection, or of all, newest first.
// mode: read
// $collection: STRING = null - name of the collection, or null for all
// -> run: MAP - its properties
// -> steps: INTEGER - how many steps it took
MATCH (r:Kgrag:Run) WHERE $collection IS NULL OR r.collection = $collection
RETURN properties(r) AS run, COUNT { (r)-[:HAS_STEP]->() } AS steps ORDER BY r.created DESC, r.id
