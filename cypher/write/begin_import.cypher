// Make the node of a collection that is imported, unless there is one of that name.
// mode: write
// $name: STRING - name of the collection
// $export: STRING - id of the export that it comes from
// $properties: MAP - its other properties
MATCH (s:Schema {id: 'kgrag'})
SET s.touched = datetime()
WITH s
WHERE NOT EXISTS { (:Collection {name: $name}) }
SET s.collections = s.collections + 1
CREATE (c:Collection {name: $name})
SET c += $properties, c.collection = $name, c.number = s.collections, c.importing = $export, c.imported = 1
