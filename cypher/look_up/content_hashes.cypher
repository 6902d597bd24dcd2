// The content hashes under which documents were last written, and what they came from.
// mode: read
// $ids: LIST<STRING> - document ids
// -> id: STRING - document id
// -> content_hash: STRING - hash, or null while the document is being written
// -> source: STRING - path or address
// -> file: STRING - key of the file that it was read from, or null
// -> root: STRING - folder in which that is a path, or null
// -> fingerprint: STRING - state of that file, or null
// -> file_documents: INTEGER - on the last document of the file, how many it gave, else null
// -> file_problems: STRING - on the last document of the file, what could not be read of it, else null
UNWIND $ids AS id
MATCH (d:Kgrag:Document {id: id})
RETURN id, d.content_hash AS content_hash, d.source AS source, d.file AS file, d.root AS root, d.fingerprint AS fingerprint, d.file_documents AS file_documents, d.file_problems AS file_problems
