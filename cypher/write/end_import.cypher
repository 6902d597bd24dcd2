// Note that a collection is imported.
// mode: write
// $name: STRING - its name
MATCH (c:Kgrag:Collection {id: $name})
REMOVE c.importing, c.imported
