// Record the files of documents, in their current state; the documents' contents have not changed.
// mode: write
// $rows: LIST<MAP> - {id, source, file, root, fingerprint, file_documents, file_problems}; null if unknown
UNWIND $rows AS row
MATCH (d:Kgrag:Document {id: row.id})
SET d.source = row.source, d.file = row.file, d.root = row.root, d.fingerprint = row.fingerprint, d.file_documents = row.file_documents, d.file_problems = row.file_problems
