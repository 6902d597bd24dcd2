// Nodes of a collection that hang together with nothing, by what they lack.
// mode: read
// $collection: STRING - name of the collection
// $limit: INTEGER = 5 - examples wanted
// $stated: BOOLEAN = true - whether passages state the triples; false in a collection of kind knowledge
// -> kind: STRING - documents without passages, passages without a document, passages without links, triples without a passage, entities without edges, keywords without passages
// -> number: INTEGER - how many
// -> examples: LIST<STRING> - keys of documents, ids of passages and triples, names of others
CALL () {
  MATCH (n:Document {collection: $collection}) WHERE NOT EXISTS { (n)-[:HAS_PASSAGE]->() }
  RETURN 'documents without passages' AS kind, count(n) AS number, collect(n.key)[..$limit] AS examples
  UNION ALL
  MATCH (n:Passage {collection: $collection}) WHERE NOT EXISTS { (n)<-[:HAS_PASSAGE]-() }
  RETURN 'passages without a document' AS kind, count(n) AS number, collect(n.id)[..$limit] AS examples
  UNION ALL
  MATCH (n:Passage {collection: $collection}) WHERE NOT EXISTS { (n)-[:MENTIONS|HAS_KEYWORD|STATES|SIMILAR]->() }
  RETURN 'passages without links' AS kind, count(n) AS number, collect(n.id)[..$limit] AS examples
  UNION ALL
  MATCH (n:Triple {collection: $collection})
  WHERE ($stated AND NOT EXISTS { (n)<-[:STATES]-() }) OR NOT EXISTS { (n)-[:SUBJECT]->() } OR NOT EXISTS { (n)-[:OBJECT]->() }
  RETURN 'triples without a passage' AS kind, count(n) AS number, collect(n.id)[..$limit] AS examples
  UNION ALL
  MATCH (n:Entity {collection: $collection}) WHERE NOT EXISTS { (n)--() }
  RETURN 'entities without edges' AS kind, count(n) AS number, collect(n.name)[..$limit] AS examples
  UNION ALL
  MATCH (n:Keyword {collection: $collection}) WHERE NOT EXISTS { (n)<-[:HAS_KEYWORD|NAMES]-() }
  RETURN 'keywords without passages' AS kind, count(n) AS number, collect(n.name)[..$limit] AS examples
}
WITH kind, number, examples WHERE number > 0
RETURN kind, number, examples
