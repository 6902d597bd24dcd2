// The content hashes under which documents were last written; documents that were never finished have none.
// mode: read
// $ids: LIST<STRING> - document ids
// -> id: STRING - document id
// -> content_hash: STRING - hash, or null while the document is being written
UNWIND $ids AS id
MATCH (d:Document {id: id})
RETURN id, d.content_hash AS content_hash
