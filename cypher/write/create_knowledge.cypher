// Make a collection of facts without passages and vectors, unless there is one of that name.
// mode: write
// $name: STRING - name of the collection
// $settings: STRING - indexing settings as JSON
// $language: STRING - whose words its texts are read with, as an ISO 639-1 code
MATCH (s:Schema {id: 'kgrag'})
SET s.touched = datetime()
WITH s
WHERE NOT EXISTS { (:Collection {name: $name}) }
SET s.collections = s.collections + 1
CREATE (c:Collection {name: $name})
SET c.collection = $name, c.kind = 'knowledge', c.number = s.collections, c.embedder = 'none', c.dimension = 0, c.embedding = '',
    c.settings = $settings, c.language = $language, c.schema_version = s.version, c.created = datetime(), c.passages = 0
