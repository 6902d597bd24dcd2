// The power of two of the number of passages that a collection's keywords were weighed with last.
// mode: read
// $collection: STRING - name of the collection
// -> class: INTEGER - floor(log2(number of passages)), or null before the first time
MATCH (c:Kgrag:Collection {id: $collection})
RETURN c.class AS class
