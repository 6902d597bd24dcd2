// Record the schema version of the database.
// mode: write
// $version: INTEGER - schema version
MERGE (s:Kgrag:Schema {id: 'kgrag/schema'})
ON CREATE SET s.name = 'kgrag schema', s.collections = 0
SET s.version = $version
