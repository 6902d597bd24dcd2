// Which layers a collection has besides its passages: each is looked for only if it is asked for.
// mode: read
// $collection: STRING - name of the collection
// $layers: LIST<STRING> - triples, keywords (of a language model), TAGME, tree, communities
// -> rows: LIST<STRING> - those of them that are there
RETURN [layer IN $layers WHERE CASE layer
  WHEN 'triples' THEN EXISTS { MATCH (:Triple {collection: $collection}) }
  WHEN 'keywords' THEN EXISTS { MATCH (:Passage {collection: $collection})-[:NAMES]->(:Keyword) }
  WHEN 'TAGME' THEN EXISTS { MATCH (p:Passage {collection: $collection}) WHERE p.tagged IS NOT NULL }
  WHEN 'tree' THEN EXISTS { MATCH (:Summary {collection: $collection}) }
  WHEN 'communities' THEN EXISTS { MATCH (:Community {collection: $collection}) }
END] AS rows
