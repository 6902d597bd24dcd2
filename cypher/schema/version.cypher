// The schema version of the database, and which description of the graph it holds; no row when kgrag never wrote to it.
// mode: read
// -> version: INTEGER - schema version
// -> described: STRING - hash of the description, or null
MATCH (s:Schema) WHERE s.id IN ['kgrag/schema', 'kgrag'] AND s.version IS NOT NULL // the second is that of schema 14
RETURN s.version AS version, s.described AS described
