// Make nodes of any labels.
// mode: write
// $rows: LIST<LIST> - of each node: labels: LIST<STRING>; properties: MAP; vectors: LIST<MAP> of name and numbers
// -> elements: LIST<STRING> - what the server calls the nodes, in the order of the rows
UNWIND $rows AS row
CREATE (n:$(row[0]))
SET n = row[1]
WITH n, row
CALL (n, row) {
  UNWIND row[2] AS vector
  CALL db.create.setNodeVectorProperty(n, vector.name, vector.numbers)
}
RETURN collect(elementId(n)) AS elements
