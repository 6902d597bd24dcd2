// Every collection, or the one of that name, and the schema version of the database.
// mode: read
// $name: STRING = '' - name of the collection; empty: all
// -> collection: MAP - its properties
// -> version: INTEGER - schema version of the database
MATCH (c:Kgrag:Collection) WHERE $name = '' OR c.name = $name
OPTIONAL MATCH (s:Kgrag:Schema {id: 'kgrag/schema'})
RETURN properties(c) AS collection, s.version AS version ORDER BY c.name
