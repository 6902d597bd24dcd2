// Count the nodes removed from a collection that its full-text indexes still count; a negative number resets the count.
// mode: write
// $collection: STRING - name of the collection
// $number: INTEGER - so many more passages and triples
MATCH (c:Kgrag:Collection {id: $collection})
WITH c, coalesce(c.stale, 0) + $number AS stale
SET c.stale = CASE WHEN stale > 0 THEN stale END
