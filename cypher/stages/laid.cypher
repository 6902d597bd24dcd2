// How much of the groups of a collection is laid.
// mode: read
// $collection: STRING - name of the collection
// $groups: STRING - tree or communities
// -> number: INTEGER - levels of the tree, or names that were in a community when these were found; 0: none
MATCH (c:Kgrag:Collection {id: $collection})
RETURN coalesce(c[$groups], 0) AS number
