// Record the state of files that were touched, copied or moved, but hold what they held.
// mode: write
// $collection: STRING - name of the collection
// $rows: LIST<MAP> - {file, before, fingerprint, root}; before: the fingerprint that is recorded
UNWIND $rows AS row
MATCH (d:Document {collection: $collection, file: row.file, fingerprint: row.before})
SET d.fingerprint = row.fingerprint, d.root = row.root
