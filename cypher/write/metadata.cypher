// Give documents the metadata that was kept as JSON, as properties; what is still JSON stays.
// mode: write
// $rows: LIST<MAP> - {id, properties}
UNWIND $rows AS row
MATCH (d:Document {id: row.id})
SET d.metadata = null, d += row.properties
