// Mark a collection as being removed, so that nobody opens its remaining nodes.
// mode: write
// $collection: STRING - name of the collection
// $indexed: LIST<STRING> - labels whose indexes stay, for another collection
// $most: INTEGER = 50 - removed collections whose indexes stay
// -> indexed: LIST<STRING> - the labels whose indexes do
MATCH (c:Kgrag:Collection {id: $collection})
OPTIONAL MATCH (s:Kgrag:Schema {id: 'kgrag/schema'})
SET c.removing = true, c.indexed = CASE WHEN size(coalesce(s.spare_indexes, [])) < $most THEN $indexed ELSE [] END
RETURN c.indexed AS indexed
