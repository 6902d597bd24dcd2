// The reports of one level: of its communities, and of coarser ones that have no parts; those nearest to a question first.
// mode: read
// $collection: STRING - name of the collection
// $level: INTEGER - the level, 0 for the coarsest
// $embedding: STRING - property that holds vectors
// $vector: LIST<FLOAT> - the question's vector
// $leaves: INTEGER = 3 - passages of each, the nearest to the question
// -> rows: LIST<MAP> - {id, title, text, terms, leaves: [{id, score ((1 + cosine) / 2)}]}
MATCH (c:Community {collection: $collection})
WHERE (c.level = $level OR c.level < $level AND NOT (c)<-[:PART_OF]-()) AND c.text <> '' AND c[$embedding] IS NOT NULL
CALL (c) {
  MATCH (c)-[:SUMMARISES]->(p:Passage) WHERE p[$embedding] IS NOT NULL
  WITH p, vector.similarity.cosine(p[$embedding], $vector) AS score ORDER BY score DESC, p.id LIMIT toInteger($leaves)
  RETURN collect({id: p.id, score: score}) AS leaves
}
WITH c, leaves ORDER BY vector.similarity.cosine(c[$embedding], $vector) DESC, c.id
RETURN collect({id: c.id, title: c.title, text: c.text, terms: [], leaves: leaves}) AS rows
