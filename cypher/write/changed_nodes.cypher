// Set properties and vectors of nodes, by what the server calls these; a property of no value goes.
// mode: write
// $rows: LIST<MAP> - element: STRING (element id); properties: MAP; vectors: LIST<MAP> of name and numbers
UNWIND $rows AS row
MATCH (n) WHERE elementId(n) = row.element
SET n += row.properties
WITH n, row
CALL (n, row) {
  UNWIND row.vectors AS vector
  CALL db.create.setNodeVectorProperty(n, vector.name, vector.numbers)
}
