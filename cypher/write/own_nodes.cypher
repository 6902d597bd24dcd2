// Give the nodes of schema 14 the label Kgrag: the nodes of its collections, and jobs.
// mode: auto
// label: all
// $collections: LIST<STRING> - names of the collections
MATCH (n:{label})
WHERE NOT n:Kgrag AND (n.collection IN $collections OR n.collection IS NOT NULL AND n.parameters IS NOT NULL AND n.attempt IS NOT NULL)
CALL (n) {
  SET n:Kgrag
} IN TRANSACTIONS OF 10000 ROWS
