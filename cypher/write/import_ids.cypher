// Give nodes their ids.
// mode: write
// $rows: LIST<MAP> - element: STRING (element id of a node), id: STRING
UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row.element
SET n.id = row.id
