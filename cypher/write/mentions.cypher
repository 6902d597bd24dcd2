// Replace the mentions of passages. The weight of a mention is 1 unless it has one; without positions it has none.
// mode: write
// $rows: LIST<MAP> - {id (of a passage), mentions: [{entity, via, positions}]}
// -> before: LIST<STRING> - entities that they mentioned before
CALL () {
  UNWIND $rows AS row
  MATCH (:Passage {id: row.id})-[m:MENTIONS]->(e:Entity)
  DELETE m
  RETURN collect(DISTINCT e.id) AS before
}
CALL () {
  UNWIND $rows AS row
  MATCH (p:Passage {id: row.id})
  UNWIND row.mentions AS mention
  MATCH (e:Entity {id: mention.entity})
  CREATE (p)-[:MENTIONS {via: mention.via, positions: mention.positions}]->(e)
}
RETURN before
