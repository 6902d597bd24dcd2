// Untie names that are no longer taken for one entity's.
// mode: write
// $rows: LIST<MAP> - {one (entity id), other}
UNWIND $rows AS row
MATCH (:Kgrag:Entity {id: row.one})-[s:SAME_AS]->(:Kgrag:Entity {id: row.other})
DELETE s
