// Write the entities that TAGME found, each with the alphabetically first of its Wikipedia articles. They are not
// searched for in other passages, since TAGME annotates these itself.
// mode: write
// $rows: LIST<MAP> - {id, name, normal, folded, wikipedia}, sorted by id so that two writers cannot deadlock
// $collection: STRING - name of the collection
// $labels: LIST<STRING> - the collection's own label
UNWIND $rows AS row
MERGE (e:Kgrag:Entity {id: row.id})
ON CREATE SET e.name = row.name, e.normal = row.normal, e.folded = row.folded, e.collection = $collection, e.df = 0, e.ntit = 0, e.phrases = 0
SET e:$($labels), e.todo = coalesce(e.todo, []) + [stage IN ['titles'] WHERE NOT stage IN coalesce(e.todo, [])],
    e.wikipedia = CASE WHEN e.wikipedia <= row.wikipedia THEN e.wikipedia ELSE row.wikipedia END
