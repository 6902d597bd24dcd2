// title: Orphans: what hangs together with little
// Nodes that a walk over the graph does not reach: documents that share no name with others and whose title no other
// document mentions, documents without passages, and triples without a passage.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $limit: INTEGER = 25 - rows of each kind
// -> why: STRING - the missing relationship
// -> name: STRING - title of the document, or text of the triple
// -> source: STRING - where the document was read
CALL () {
  MATCH (d:Document {collection: $collection}) WHERE NOT EXISTS { (d)-[:HAS_PASSAGE]->() }
  RETURN 'no passages' AS why, d.name AS name, d.source AS source LIMIT toInteger($limit)
  UNION ALL
  MATCH (d:Document {collection: $collection})
  WHERE EXISTS { (d)-[:HAS_PASSAGE]->() }
    AND NOT EXISTS { (d)-[:ABOUT]->(e:Entity) WHERE e.df > 0 }
    AND NOT EXISTS { (d)-[:HAS_PASSAGE]->(:Passage)-[:MENTIONS|ABOUT]->(e:Entity) WHERE e.df > 1 OR e.ntit > 0 }
  RETURN 'no name leads to it or from it' AS why, d.name AS name, d.source AS source LIMIT toInteger($limit)
  UNION ALL
  MATCH (d:Document {collection: $collection})
  WHERE EXISTS { (d)-[:HAS_PASSAGE]->() } AND NOT EXISTS { (d)-[:ABOUT]->(e:Entity) WHERE e.df > 0 }
    AND EXISTS { (d)-[:HAS_PASSAGE]->(:Passage)-[:MENTIONS]->(e:Entity) WHERE e.df > 1 OR e.ntit > 0 }
  RETURN 'no passage mentions its title' AS why, d.name AS name, d.source AS source LIMIT toInteger($limit)
  UNION ALL
  MATCH (t:Triple {collection: $collection}) WHERE NOT EXISTS { (t)<-[:STATES]-() }
  RETURN 'no passage states it' AS why, t.text AS name, '' AS source LIMIT toInteger($limit)
}
RETURN why, name, source ORDER BY why, name
