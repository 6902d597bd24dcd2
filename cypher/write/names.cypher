// Give nodes new names.
// mode: write
// $rows: LIST<MAP> - {element (the database's own id), name}
UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row.element
SET n.name = row.name
