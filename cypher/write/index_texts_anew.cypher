// Have the full-text indexes take in all nodes of a label anew, in two steps: each text gets a mark of two line
// separators, which no analyzer takes for a word, then loses it. Lucene drops what holds no node any longer, and with it
// what it counted of nodes that were removed. In one transaction each, so that nothing old is left beside the new.
// mode: write
// label: indexed
// $collection: STRING - name of the collection
// $properties: LIST<STRING> - what the indexes read
// $marked: BOOLEAN - true for the first step, false for the second
MATCH (n:{label} {collection: $collection})
FOREACH (p IN [p IN $properties WHERE (n[p] ENDS WITH '\u2028\u2028') <> $marked] |
  SET n[p] = CASE WHEN $marked THEN n[p] + '\u2028\u2028' ELSE left(n[p], size(n[p]) - 2) END
)
