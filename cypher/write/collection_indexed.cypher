// Record that the indexes of a collection over nodes of some labels are made, and others for collections to come.
// mode: write
// $name: STRING - name of the collection
// $labels: LIST<STRING> - the labels
// $spare: LIST<STRING> - the others, as `spare_indexes` of the Schema node has them
MATCH (c:Kgrag:Collection {id: $name})
SET c.indexed = [x IN coalesce(c.indexed, []) WHERE NOT x IN $labels] + $labels
WITH 1 AS indexed WHERE size($spare) > 0
MATCH (s:Kgrag:Schema {id: 'kgrag/schema'})
SET s.spare_indexes = coalesce(s.spare_indexes, []) + $spare
