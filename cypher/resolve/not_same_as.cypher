// Untie names that are no longer taken for one entity's.
// mode: write
// $rows: LIST<MAP> - {one (entity id), other}
UNWIND $rows AS row
MATCH (:Entity {id: row.one})-[s:SAME_AS]->(:Entity {id: row.other})
DELETE s
