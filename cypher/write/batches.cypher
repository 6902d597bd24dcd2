// Record which batches of a language model's server are under way for a collection; an empty list: none.
// mode: write
// $collection: STRING - name of the collection
// $batches: LIST<STRING> - the record of each as JSON
MATCH (c:Kgrag:Collection {id: $collection})
SET c.batches = CASE WHEN size($batches) > 0 THEN $batches END
