// Record how many passages a collection has.
// mode: write
// $collection: STRING - name of the collection
// -> passages: INTEGER - number of passages
MATCH (c:Kgrag:Collection {id: $collection})
SET c.passages = COUNT { MATCH (p:Passage {collection: $collection}) }
RETURN c.passages AS passages
