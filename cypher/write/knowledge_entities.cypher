// Write entities of a knowledge graph; an existing one takes the new properties.
// mode: write
// $rows: LIST<MAP> - {id, key, name, normal, folded, stemmed, aliases, wikipedia}, sorted by id so that two writers cannot deadlock
// $collection: STRING - name of the collection
// $labels: LIST<STRING> - the collection's own label
UNWIND $rows AS row
MERGE (e:Kgrag:Entity {id: row.id})
ON CREATE SET e = row, e.collection = $collection, e.df = 0, e.ntit = 0, e.phrases = 0, e.named = true, e:$($labels)
ON MATCH SET e += row
