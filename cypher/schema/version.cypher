// The schema version of the database; no row when kgrag never wrote to it.
// mode: read
// -> version: INTEGER - schema version
MATCH (s:Schema {id: 'kgrag'}) RETURN s.version AS version
