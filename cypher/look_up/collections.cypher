// Every collection, or the one of that name, and the schema version of the database.
// mode: read
// $name: STRING = null - name of the collection, or null for all
// -> collection: MAP - its properties
// -> version: INTEGER - schema version of the database
MATCH (c:Collection) WHERE $name IS NULL OR c.name = $name
OPTIONAL MATCH (s:Schema {id: 'kgrag'})
RETURN properties(c) AS collection, s.version AS version ORDER BY c.name
