// Record the power of two of the number of passages that a collection's keywords were weighed with.
// mode: write
// $collection: STRING - name of the collection
// $class: INTEGER - floor(log2(number of passages))
MATCH (c:Kgrag:Collection {id: $collection})
SET c.class = $class
