// How many nodes of a collection have a vector.
// mode: read
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds the vectors: embedding or embedding_b
// -> label: STRING - Triple or Entity
// -> having: INTEGER - nodes with a vector
// -> number: INTEGER - nodes
CALL () {
  MATCH (n:Triple {collection: $collection})
  WITH CASE $embedding WHEN 'embedding_b' THEN n.embedding_b IS NOT NULL ELSE n.embedding IS NOT NULL END AS vector
  RETURN 'Triple' AS label, count(CASE WHEN vector THEN 1 END) AS having, count(*) AS number
  UNION ALL
  MATCH (n:Entity {collection: $collection})
  WITH CASE $embedding WHEN 'embedding_b' THEN n.embedding_b IS NOT NULL ELSE n.embedding IS NOT NULL END AS vector
  RETURN 'Entity' AS label, count(CASE WHEN vector THEN 1 END) AS having, count(*) AS number
}
RETURN label, having, number
