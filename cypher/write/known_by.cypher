// Give entities what they are found by.
// mode: write
// $rows: LIST<MAP> - {id, normal, folded, stemmed}
UNWIND $rows AS row
MATCH (e:Entity {id: row.id})
SET e += row
