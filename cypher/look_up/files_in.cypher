// The files of folders that a collection has documents of.
// mode: read
// $collection: STRING - name of the collection
// $prefixes: LIST<STRING> - what the keys of the files of each folder begin with
// $roots: LIST<STRING> - folders in which the keys are paths; an empty one stands for absolute paths
// -> prefix: STRING - of a folder
// -> file: STRING - key of a file
// -> fingerprint: STRING - state in which these documents were read, or null
UNWIND $prefixes AS prefix
MATCH (d:Document {collection: $collection})
WHERE d.file STARTS WITH prefix AND coalesce(d.root, '') IN $roots
RETURN DISTINCT prefix, d.file AS file, d.fingerprint AS fingerprint
