// Note that the communities of a collection are found, and all written; or that they are not.
// mode: write
// $collection: STRING - name of the collection
// $names: INTEGER - names that are in one; 0: they are to be found again
MATCH (c:Kgrag:Collection {id: $collection})
SET c.communities = CASE WHEN $names > 0 THEN $names END
