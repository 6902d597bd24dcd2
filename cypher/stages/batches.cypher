// The batches of a language model's server that are under way for a collection.
// mode: read
// $collection: STRING - name of the collection
// -> batches: LIST<STRING> - the record of each as JSON, or null
MATCH (c:Kgrag:Collection {id: $collection})
RETURN c.batches AS batches
