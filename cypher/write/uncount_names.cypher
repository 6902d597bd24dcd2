// Forget the names that only capitals in texts tell of, and how many passages hold the others: they are counted again.
// mode: auto
// $collection: STRING - name of the collection
MATCH (e:Entity {collection: $collection})
CALL (e) {
  SET e.phrases = 0
  WITH e
  WHERE NOT EXISTS { (e)<-[:ABOUT|SUBJECT|OBJECT]-() } AND NOT EXISTS { (e)<-[m:MENTIONS]-() WHERE m.tagme IS NOT NULL }
  DETACH DELETE e
} IN TRANSACTIONS OF 5000 ROWS
