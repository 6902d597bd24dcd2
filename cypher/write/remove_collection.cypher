// Remove the node of a collection that holds nothing any more; the indexes that it has are left for another one.
// mode: write
// $collection: STRING - name of the collection
MATCH (c:Kgrag:Collection {id: $collection})
OPTIONAL MATCH (s:Kgrag:Schema {id: 'kgrag/schema'})
WITH c, s, CASE WHEN size(c.indexed) > 0
           THEN [reduce(x = c.dimension + ' ' + c.number + ' ' + timestamp(), label IN c.indexed | x + ' ' + label)]
           ELSE [] END AS spare
SET s.touched = datetime(), s.spare_indexes = coalesce(s.spare_indexes, []) + spare
DETACH DELETE c
