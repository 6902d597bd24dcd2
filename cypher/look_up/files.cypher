// What a collection holds of files whose documents are all there, wholly written.
// mode: read
// $collection: STRING - name of the collection
// $files: LIST<STRING> - keys of files
// -> file: STRING - key of a file
// -> root: STRING - folder in which that is a path, or null
// -> fingerprint: STRING - state in which the file was read
// -> documents: INTEGER - how many it gave
// -> problems: STRING - what could not be read of it, or null
UNWIND $files AS file
MATCH (d:Document {collection: $collection, file: file})
WHERE d.content_hash IS NOT NULL
WITH file, d.root AS root, d.fingerprint AS fingerprint, count(*) AS documents, max(d.file_documents) AS expected, max(d.file_problems) AS problems
WHERE documents = expected
RETURN file, root, fingerprint, documents, problems
