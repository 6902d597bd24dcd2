// Write the entities that titles or triples name; a new name must be compared with other names, and how it is written may
// change what the entity is called.
// mode: write
// $rows: LIST<MAP> - {id, name, normal, folded, stemmed}, sorted by id so that two writers cannot deadlock
// $collection: STRING - name of the collection
// $labels: LIST<STRING> - the collection's own label
UNWIND $rows AS row
MERGE (e:Kgrag:Entity {id: row.id})
ON CREATE SET e.name = row.name, e.normal = row.normal, e.folded = row.folded, e.collection = $collection, e.df = 0, e.ntit = 0, e.phrases = 0
SET e:$($labels), e.stemmed = row.stemmed,
    e.name = CASE WHEN e.named IS NULL AND e.df = 0 THEN row.name ELSE e.name END,
    e.named = true
WITH e, CASE WHEN e.name = row.name THEN [] ELSE ['titles'] END + CASE WHEN EXISTS { (e)<-[:ABOUT|SUBJECT|OBJECT]-() } THEN [] ELSE ['similar'] END AS due
SET e.todo = CASE WHEN size(due) > 0 THEN coalesce(e.todo, []) + [stage IN due WHERE NOT stage IN coalesce(e.todo, [])] ELSE e.todo END
