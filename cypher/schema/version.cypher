// The schema version of the database, and which description of the graph it holds; no row when kgrag never wrote to it.
// In schema 14 the node has the id kgrag, and no label Kgrag.
// mode: read
// -> version: INTEGER - schema version
// -> described: STRING - hash of the description, or null
MATCH (s:Schema) WHERE s.id IN ['kgrag/schema', 'kgrag'] AND s.version IS NOT NULL
RETURN s.version AS version, s.described AS described
