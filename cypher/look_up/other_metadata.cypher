// Metadata that is kept as JSON.
// mode: read
// -> id: STRING - document id
// -> metadata: STRING - JSON
MATCH (d:Document) WHERE d.metadata IS NOT NULL
RETURN d.id AS id, d.metadata AS metadata
