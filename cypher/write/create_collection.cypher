// Make a collection with the next free number, unless it exists; the Schema node's lock keeps two writers apart.
// mode: write
// $name: STRING - name of the collection
// $embedder: STRING - name of the embedder
// $dimension: INTEGER - length of its vectors
// $settings: STRING - indexing settings as JSON
// $language: STRING - whose words its texts are read with, as an ISO 639-1 code
MATCH (s:Schema {id: 'kgrag'})
SET s.touched = datetime()
WITH s
WHERE NOT EXISTS { (:Collection {name: $name}) }
SET s.collections = s.collections + 1
CREATE (c:Collection {name: $name})
SET c.collection = $name, c.number = s.collections, c.embedder = $embedder, c.dimension = $dimension, c.embedding = 'embedding',
    c.settings = $settings, c.language = $language, c.schema_version = s.version, c.created = datetime(), c.passages = 0
