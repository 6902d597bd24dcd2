// How many nodes of a label in a collection have a vector.
// mode: read
// label: embedded
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds the vectors: embedding or embedding_b
// -> having: INTEGER - nodes with a vector
// -> number: INTEGER - nodes
MATCH (n:{label} {collection: $collection})
WITH CASE $embedding WHEN 'embedding_b' THEN n.embedding_b IS NOT NULL ELSE n.embedding IS NOT NULL END AS vector
RETURN count(CASE WHEN vector THEN 1 END) AS having, count(*) AS number
