// The keys of the metadata of the first 10,000 documents of a collection, and which of some keys no document has.
// mode: read
// $collection: STRING - name of the collection
// $candidates: LIST<STRING> - keys
// -> missing: LIST<STRING> - those of $candidates that no document has
// -> keys: LIST<STRING> - keys in alphabetical order
CALL {
  MATCH (d:Document {collection: $collection}) WITH d LIMIT 10000
  UNWIND [key IN keys(d) WHERE key STARTS WITH 'meta_'] AS key
  WITH DISTINCT substring(key, 5) AS key ORDER BY key
  RETURN collect(key) AS keys
}
RETURN [key IN $candidates WHERE NOT key IN keys AND NOT EXISTS { (d:Document {collection: $collection}) WHERE d['meta_' + key] IS NOT NULL }] AS missing, keys
