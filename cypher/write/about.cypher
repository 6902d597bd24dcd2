// Link nodes to the entities that they are about: documents to what their titles name, passages of long documents to what
// their headings and first words name. The entities' title counts are due; a new title is looked for in all texts.
// mode: write
// label: held
// $rows: LIST<MAP> - {id, entity, weight, text (the name as the title or heading writes it)}
UNWIND $rows AS row
MATCH (n:Kgrag:{label} {id: row.id})
MATCH (e:Kgrag:Entity {id: row.entity})
WITH n, e, row, ['titles'] + CASE WHEN EXISTS { (e)<-[:ABOUT]-() } THEN [] ELSE ['spread'] END AS due
MERGE (n)-[a:ABOUT]->(e)
SET a.weight = row.weight, a.text = row.text, e.todo = coalesce(e.todo, []) + [stage IN due WHERE NOT stage IN coalesce(e.todo, [])]
