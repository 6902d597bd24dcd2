// Link passages of long documents to the entities that their headings and first words name.
// mode: write
// $rows: LIST<MAP> - {passage, entity, weight}
UNWIND $rows AS row
MATCH (p:Passage {id: row.passage})
MATCH (e:Entity {id: row.entity})
MERGE (p)-[a:ABOUT]->(e)
SET a.weight = row.weight, e.todo = coalesce(e.todo, []) + [stage IN ['titles'] WHERE NOT stage IN coalesce(e.todo, [])]
