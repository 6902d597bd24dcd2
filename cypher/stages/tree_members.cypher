// The members of a level of the tree with their vectors: all passages, or the summaries of the level below.
// mode: read
// label: embedded
// $collection: STRING - name of the collection
// $level: INTEGER - the level of summaries; 0: passages
// $embedding: STRING - property that holds vectors
// $vectors: BOOLEAN - whether they are wanted
// -> id: STRING - node id
// -> vector: LIST<FLOAT> - its vector; null where that is not wanted
// -> rests_on: STRING - the members and the maker of a summary; empty for a passage
// -> parents: LIST<STRING> - ids of the summaries that it is in
MATCH (n:{label} {collection: $collection})
WHERE n[$embedding] IS NOT NULL AND ($level = 0 OR n.level = $level)
RETURN n.id AS id, CASE WHEN $vectors THEN n[$embedding] END AS vector, coalesce(n.rests_on + ' ' + n.made, '') AS rests_on,
       [(s:Summary)-[:SUMMARISES]->(n) | s.id] AS parents
ORDER BY id
