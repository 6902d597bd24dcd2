// Write the mentions that TAGME found; an existing mention keeps its source, weight and positions.
// mode: write
// $rows: LIST<MAP> - {passage, entity, rho, wikipedia, positions (word numbers, or null)}
UNWIND $rows AS row
MATCH (p:Kgrag:Passage {id: row.passage})
MATCH (e:Kgrag:Entity {id: row.entity})
MERGE (p)-[m:MENTIONS]->(e)
ON CREATE SET m.via = 'tagme', m.weight = row.rho, m.positions = row.positions
SET m.tagme = row.rho, m.spots = row.positions, m.wikipedia = row.wikipedia
