// Record the files that documents were read from, in the state they have now; their content has not changed.
// mode: write
// $rows: LIST<MAP> - {id, source, file, root, fingerprint, file_documents, file_problems}; null where there is none
UNWIND $rows AS row
MATCH (d:Kgrag:Document {id: row.id})
SET d.source = row.source, d.file = row.file, d.root = row.root, d.fingerprint = row.fingerprint, d.file_documents = row.file_documents, d.file_problems = row.file_problems
