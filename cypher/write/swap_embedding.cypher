// Let the new vectors of a collection take over from the old ones, whose removal is now due.
// mode: write
// $name: STRING - name of the collection
MATCH (c:Kgrag:Collection {id: $name}) WHERE c.reembedding IS NOT NULL
SET c.discard = c.embedding, c.discard_embedder = c.embedder, c.discard_dimension = c.dimension,
    c.embedding = c.reembedding_slot, c.embedder = c.reembedding, c.dimension = c.reembedding_dimension
REMOVE c.reembedding, c.reembedding_dimension, c.reembedding_slot
