// Write documents (all properties replaced; without a content hash until they are sealed).
// mode: write
// $rows: LIST<MAP> - {id, properties}
UNWIND $rows AS row
MERGE (d:Kgrag:Document {id: row.id})
SET d = row.properties, d.updated = datetime()
