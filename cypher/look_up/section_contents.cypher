// The passages of a document that hold what stands under some headings, in their order; rows of tables apart.
// Short sections share a passage, whose path is the path of the first section.
// mode: read
// $document: STRING - document id
// $paths: LIST<STRING> - paths of headings
// $headings: LIST<STRING> - the last headings of these paths, each between blank lines
// -> id: STRING - passage id
// -> path: STRING - path of headings that the text begins under
// -> text: STRING - text
MATCH (:Kgrag:Document {id: $document})-[:HAS_PASSAGE]->(p:Passage)
WHERE p.ordinal IS NOT NULL AND NOT EXISTS { (p)-[:OF_TABLE]->() }
  AND (p.section IN $paths OR any(heading IN $headings WHERE ('\n\n' + p.text) CONTAINS heading))
RETURN p.id AS id, p.section AS path, p.text AS text ORDER BY p.ordinal, id
