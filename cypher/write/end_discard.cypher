// Record that nothing is left of the vectors that a collection discarded.
// mode: write
// $name: STRING - name of the collection
MATCH (c:Kgrag:Collection {id: $name}) REMOVE c.discard, c.discard_embedder, c.discard_dimension
