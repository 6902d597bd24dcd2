// Add to the counts of capitalised phrases; due: spread, when a phrase comes to stand in two passages or no longer does.
// mode: write
// $rows: LIST<MAP> - {id, normal, folded, n}: n more (or, negative, fewer) passages hold the phrase; sorted by id
// $collection: STRING - name of the collection
// $labels: LIST<STRING> - the collection's own label
UNWIND $rows AS row
MERGE (e:Kgrag:Entity {id: row.id})
ON CREATE SET e.name = row.normal, e.normal = row.normal, e.folded = row.folded, e.collection = $collection, e.df = 0, e.ntit = 0, e.phrases = 0
SET e:$($labels)
WITH e, row, e.phrases + row.n AS phrases
SET e.todo = CASE WHEN (e.phrases > 1) <> (phrases > 1) AND NOT 'spread' IN coalesce(e.todo, []) THEN coalesce(e.todo, []) + ['spread'] ELSE e.todo END,
    e.phrases = phrases
