// Give documents metadata as properties, and their date; what is still JSON stays.
// mode: write
// $rows: LIST<MAP> - {id, properties}
UNWIND $rows AS row
MATCH (d:Document {id: row.id})
SET d.metadata = null, d += row.properties
