// Note how many levels of summaries a collection has.
// mode: write
// $collection: STRING - name of the collection
// $levels: INTEGER - levels that are laid
MATCH (c:Kgrag:Collection {id: $collection})
SET c.tree = CASE WHEN $levels > 0 THEN $levels END
