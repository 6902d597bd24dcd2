// Nodes of a collection without the connections that their kind needs, by kind. Examples are searched in a second pass
// and only if needed, since collecting millions of nodes for five examples exceeds the memory of a statement.
// mode: read
// $collection: STRING - name of the collection
// $limit: INTEGER = 5 - examples wanted
// $stated: BOOLEAN = true - whether passages state the triples; false in a collection of kind knowledge
// -> kind: STRING - documents without passages, passages without a document, passages without links, triples without a passage, entities without edges, keywords without passages
// -> number: INTEGER - how many
// -> examples: LIST<STRING> - keys of documents, ids of passages and triples, names of others
CALL () {
  MATCH (n:Document {collection: $collection}) WHERE NOT EXISTS { (n)-[:HAS_PASSAGE]->() }
  WITH count(n) AS number WHERE number > 0
  RETURN 'documents without passages' AS kind, number, COLLECT { MATCH (n:Document {collection: $collection}) WHERE NOT EXISTS { (n)-[:HAS_PASSAGE]->() } RETURN n.key LIMIT $limit } AS examples
  UNION ALL
  MATCH (n:Passage {collection: $collection}) WHERE NOT EXISTS { (n)<-[:HAS_PASSAGE]-() }
  WITH count(n) AS number WHERE number > 0
  RETURN 'passages without a document' AS kind, number, COLLECT { MATCH (n:Passage {collection: $collection}) WHERE NOT EXISTS { (n)<-[:HAS_PASSAGE]-() } RETURN n.id LIMIT $limit } AS examples
  UNION ALL
  MATCH (n:Passage {collection: $collection}) WHERE NOT EXISTS { (n)-[:MENTIONS|HAS_KEYWORD|STATES|SIMILAR]->() }
  WITH count(n) AS number WHERE number > 0
  RETURN 'passages without links' AS kind, number, COLLECT { MATCH (n:Passage {collection: $collection}) WHERE NOT EXISTS { (n)-[:MENTIONS|HAS_KEYWORD|STATES|SIMILAR]->() } RETURN n.id LIMIT $limit } AS examples
  UNION ALL
  MATCH (n:Triple {collection: $collection}) WHERE ($stated AND NOT EXISTS { (n)<-[:STATES]-() }) OR NOT EXISTS { (n)-[:SUBJECT]->() } OR NOT EXISTS { (n)-[:OBJECT]->() }
  WITH count(n) AS number WHERE number > 0
  RETURN 'triples without a passage' AS kind, number, COLLECT { MATCH (n:Triple {collection: $collection}) WHERE ($stated AND NOT EXISTS { (n)<-[:STATES]-() }) OR NOT EXISTS { (n)-[:SUBJECT]->() } OR NOT EXISTS { (n)-[:OBJECT]->() } RETURN n.id LIMIT $limit } AS examples
  UNION ALL
  MATCH (n:Entity {collection: $collection}) WHERE n.named AND NOT EXISTS { (n)--() }
  WITH count(n) AS number WHERE number > 0
  RETURN 'entities without edges' AS kind, number, COLLECT { MATCH (n:Entity {collection: $collection}) WHERE n.named AND NOT EXISTS { (n)--() } RETURN n.name LIMIT $limit } AS examples
  UNION ALL
  MATCH (n:Keyword {collection: $collection}) WHERE NOT EXISTS { (n)<-[:HAS_KEYWORD|NAMES]-() }
  WITH count(n) AS number WHERE number > 0
  RETURN 'keywords without passages' AS kind, number, COLLECT { MATCH (n:Keyword {collection: $collection}) WHERE NOT EXISTS { (n)<-[:HAS_KEYWORD|NAMES]-() } RETURN n.name LIMIT $limit } AS examples
}
RETURN kind, number, examples
