// Remove the summaries of a collection above a level, some at a time.
// mode: write
// $collection: STRING - name of the collection
// $above: INTEGER - level that stays, with those below it
// $limit: INTEGER - how many at most
// -> removed: INTEGER - how many were removed
MATCH (s:Summary {collection: $collection}) WHERE s.level > $above
WITH s LIMIT $limit
DETACH DELETE s
RETURN count(*) AS removed
