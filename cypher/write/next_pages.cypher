// Give pages their NEXT edges.
// mode: write
// $rows: LIST<MAP> - {id, after}: ids of a page and of the one after it
UNWIND $rows AS row
MATCH (g:Kgrag:Page {id: row.id})
MATCH (after:Kgrag:Page {id: row.after})
MERGE (g)-[:NEXT]->(after)
