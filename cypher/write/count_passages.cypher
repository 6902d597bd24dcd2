// Record how many passages a collection has.
// mode: write
// $collection: STRING - name of the collection
// -> passages: INTEGER - number of passages
MATCH (c:Collection {name: $collection})
SET c.passages = COUNT { MATCH (p:Passage {collection: $collection}) }
RETURN c.passages AS passages
