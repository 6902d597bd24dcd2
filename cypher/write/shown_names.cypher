// Show entities under other names.
// mode: write
// $rows: LIST<MAP> - {id, name}
UNWIND $rows AS row
MATCH (e:Entity {id: row.id})
SET e.name = row.name
