// Replace the mentions of passages.
// mode: write
// $passages: LIST<STRING> - passages whose mentions are replaced
// $rows: LIST<MAP> - {passage, entity, via, weight, positions}
// -> entity: STRING - entity whose df is due
CALL () {
  UNWIND $passages AS id
  MATCH (:Passage {id: id})-[m:MENTIONS]->(e:Entity)
  DELETE m
  RETURN collect(DISTINCT e.id) AS before
}
CALL () {
  UNWIND $rows AS row
  MATCH (p:Passage {id: row.passage})
  MATCH (e:Entity {id: row.entity})
  CREATE (p)-[:MENTIONS {via: row.via, weight: row.weight, positions: row.positions}]->(e)
  RETURN collect(DISTINCT e.id) AS after
}
UNWIND before + after AS entity
RETURN DISTINCT entity
