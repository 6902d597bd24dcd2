// Make nodes of any labels.
// mode: write
// $rows: LIST<MAP> - labels: LIST<STRING>; properties: MAP; vectors: LIST<MAP> of name and numbers
// -> element: STRING - what the server calls the node, in the order of the rows
UNWIND $rows AS row
CREATE (n:$(row.labels))
SET n = row.properties
WITH n, row
CALL (n, row) {
  UNWIND row.vectors AS vector
  CALL db.create.setNodeVectorProperty(n, vector.name, vector.numbers)
}
RETURN elementId(n) AS element
