// The recorded state of documents, and the contents of documents that have changed.
// mode: read
// $rows: LIST<MAP> - {id, hash}: document id, and the hash of its content now
// -> id: STRING - document id
// -> content_hash: STRING - hash under which it was last written, or null while it is being written
// -> source: STRING - path or address
// -> file: STRING - key of the file that it was read from, or null
// -> root: STRING - folder in which that is a path, or null
// -> fingerprint: STRING - state of that file, or null
// -> file_documents: INTEGER - on the last document of the file, how many it gave, else null
// -> file_problems: STRING - on the last document of the file, what could not be read of it, else null
// -> passages: LIST<STRING> - ids of its passages; none where the content is the same
// -> triples: LIST<STRING> - ids of the triples that it states for these; triples that were only extracted are left out
UNWIND $rows AS row
MATCH (d:Kgrag:Document {id: row.id})
WITH d, row.id AS id, coalesce(d.content_hash = row.hash, false) AS same
RETURN id, d.content_hash AS content_hash, d.source AS source, d.file AS file, d.root AS root, d.fingerprint AS fingerprint, d.file_documents AS file_documents, d.file_problems AS file_problems,
       CASE WHEN same THEN [] ELSE [(d)-[:HAS_PASSAGE]->(p:Passage) | p.id] END AS passages,
       CASE WHEN same THEN [] ELSE [(d)-[:HAS_PASSAGE]->(:Passage)-[:STATES]->(t:Triple) WHERE t.given IS NULL | t.id] END AS triples
