// How many levels of summaries a collection has.
// mode: read
// $collection: STRING - name of the collection
// -> levels: INTEGER - levels that are laid, 0 without a tree
MATCH (c:Kgrag:Collection {id: $collection})
RETURN coalesce(c.tree, 0) AS levels
