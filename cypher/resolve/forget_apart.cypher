// Forget which names of a collection a language model told apart.
// mode: write
// $collection: STRING - name of the collection
MATCH (e:Entity {collection: $collection}) WHERE e.apart IS NOT NULL
SET e.apart = null
