// Make the full-text indexes index all nodes of a label again, in two steps: each text gets a mark of two line
// separators, which no analyzer takes for a word, and then loses it. Lucene then drops segments without live nodes, and
// with them its counts of removed nodes. Each step is one transaction, so that no old entries remain.
// mode: write
// label: indexed
// $collection: STRING - name of the collection
// $properties: LIST<STRING> - the indexed properties
// $marked: BOOLEAN - true for the first step, false for the second
MATCH (n:{label} {collection: $collection})
FOREACH (p IN [p IN $properties WHERE (n[p] ENDS WITH '\u2028\u2028') <> $marked] |
  SET n[p] = CASE WHEN $marked THEN n[p] + '\u2028\u2028' ELSE left(n[p], size(n[p]) - 2) END
)
