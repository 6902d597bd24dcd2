// Write the entities that titles or triples name; a new name must be compared with other names. How a title or triple
// writes a name goes before how a text does (named).
// mode: write
// $rows: LIST<MAP> - {id, name, normal, folded, stemmed}, sorted by id so that two writers cannot deadlock
// $collection: STRING - name of the collection
// $labels: LIST<STRING> - the collection's own label
UNWIND $rows AS row
MERGE (e:Entity {id: row.id})
ON CREATE SET e.name = row.name, e.normal = row.normal, e.folded = row.folded, e.collection = $collection, e.df = 0, e.ntit = 0, e.phrases = 0
SET e:$($labels), e.stemmed = row.stemmed,
    e.name = CASE WHEN e.named AND e.name <= row.name THEN e.name ELSE row.name END,
    e.named = true,
    e.todo = CASE WHEN EXISTS { (e)<-[:ABOUT|SUBJECT|OBJECT]-() } THEN e.todo ELSE coalesce(e.todo, []) + [stage IN ['similar'] WHERE NOT stage IN coalesce(e.todo, [])] END
