// Record how many passages a collection has, and the power of two that its keywords were weighed with.
// mode: write
// $collection: STRING - name of the collection
// $class: INTEGER - floor(log2(number of passages)), or null to leave it
// -> passages: INTEGER - number of passages
// -> class: INTEGER - the class recorded now
MATCH (c:Collection {name: $collection})
SET c.passages = COUNT { MATCH (p:Passage {collection: $collection}) }, c.class = coalesce($class, c.class)
RETURN c.passages AS passages, c.class AS class
