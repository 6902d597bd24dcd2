// Note that the groups of a collection are laid, and all written; or that they are not.
// mode: write
// $collection: STRING - name of the collection
// $groups: STRING - tree or communities
// $number: INTEGER - levels of the tree that are laid, or names that are in a community; 0: none
MATCH (c:Kgrag:Collection {id: $collection})
SET c[$groups] = CASE WHEN $number > 0 THEN $number END
