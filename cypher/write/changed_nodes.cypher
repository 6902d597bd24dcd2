// Set properties and vectors of nodes by element id; a property with the value null is removed.
// mode: write
// $rows: LIST<LIST> - of each node: element: STRING (element id); properties: MAP; vectors: LIST<MAP> of name and numbers
UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row[0]
SET n += row[1]
WITH n, row
CALL (n, row) {
  UNWIND row[2] AS vector
  CALL db.create.setNodeVectorProperty(n, vector.name, vector.numbers)
}
