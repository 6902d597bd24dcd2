// Put a corpus-wide stage on the list of the passages that hold any of some words or names. All are found before the first
// is marked: each search after a change would index what its transaction has changed so far.
// mode: write
// $index: STRING - the collection's index of stems
// $phrases: LIST<MAP> - {phrase (of stems, for Lucene), pattern (regular expression that the stems must fit, or null)}
// $stage: STRING - name of the stage
UNWIND $phrases AS wanted
CALL db.index.fulltext.queryNodes($index, wanted.phrase) YIELD node
WHERE wanted.pattern IS NULL OR node.stems =~ wanted.pattern
WITH DISTINCT node WHERE NOT $stage IN coalesce(node.todo, [])
WITH collect(node) AS nodes
UNWIND nodes AS node
SET node.todo = coalesce(node.todo, []) + [$stage]
