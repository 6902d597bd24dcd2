// Record that the indexes of a collection over nodes of some labels are made.
// mode: write
// $name: STRING - name of the collection
// $labels: LIST<STRING> - the labels
MATCH (c:Collection {name: $name})
SET c.indexed = [x IN coalesce(c.indexed, []) WHERE NOT x IN $labels] + $labels
