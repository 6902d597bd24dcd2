// Record that a collection is being embedded again, and the embedder.
// mode: write
// $name: STRING - name of the collection
// $embedder: STRING - name of the new embedder
// $dimension: INTEGER - length of its vectors
// $slot: STRING - property that takes the new vectors
MATCH (c:Kgrag:Collection {id: $name})
SET c.reembedding = $embedder, c.reembedding_dimension = $dimension, c.reembedding_slot = $slot
