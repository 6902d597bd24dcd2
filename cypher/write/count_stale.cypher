// Count what is removed from a collection, which its full-text indexes count still; or, negative, that they are made anew.
// mode: write
// $collection: STRING - name of the collection
// $number: INTEGER - so many more passages and triples
MATCH (c:Kgrag:Collection {id: $collection})
WITH c, coalesce(c.stale, 0) + $number AS stale
SET c.stale = CASE WHEN stale > 0 THEN stale END
