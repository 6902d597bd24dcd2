// Note that a collection is imported.
// mode: write
// $name: STRING - its name
MATCH (c:Collection {name: $name})
REMOVE c.importing, c.imported
