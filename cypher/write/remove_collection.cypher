// Remove the node of a collection that holds nothing any more; the indexes that it has are left for another one.
// mode: write
// $collection: STRING - name of the collection
MATCH (c:Collection {name: $collection})
OPTIONAL MATCH (s:Schema {id: 'kgrag'})
WITH c, s, CASE WHEN size(c.indexed) > 0
           THEN [reduce(x = c.dimension + ' ' + c.number + ' ' + timestamp(), label IN c.indexed | x + ' ' + label)]
           ELSE [] END AS spare
SET s.touched = datetime(), s.spare_indexes = coalesce(s.spare_indexes, []) + spare
DETACH DELETE c
