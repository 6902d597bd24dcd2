// The keys of the documents that files gave in some state.
// mode: read
// $collection: STRING - name of the collection
// $rows: LIST<MAP> - {file, fingerprint}; without a fingerprint, those of an unknown state
// -> key: STRING - key of a document
// -> whole: BOOLEAN - false if its removal or change was interrupted
UNWIND $rows AS row
MATCH (d:Document {collection: $collection, file: row.file})
WHERE coalesce(d.fingerprint, '') = coalesce(row.fingerprint, '')
RETURN d.key AS key, d.content_hash IS NOT NULL AS whole ORDER BY key
