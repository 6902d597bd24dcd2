// Untie names that are not taken for one entity's.
// mode: write
// $rows: LIST<MAP> - {one (entity id), other}
// -> entity: STRING - id of each name that was tied to one of them, also over others
CALL () {
  UNWIND $rows AS row
  MATCH (:Kgrag:Entity {id: row.one})-[s:SAME_AS]->(a:Kgrag:Entity {id: row.other})
  CALL (a) { MATCH (a)-[:SAME_AS*0..]-(e:Entity) RETURN DISTINCT e }
  RETURN collect(DISTINCT e.id) AS ids, collect(DISTINCT s) AS ties
}
FOREACH (s IN ties | DELETE s)
WITH ids UNWIND ids AS entity
RETURN entity
