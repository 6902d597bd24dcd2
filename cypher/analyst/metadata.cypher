// title: Documents: their metadata
// The metadata that the documents of a collection carry, and the most frequent values of each.
// mode: read
// $collection: STRING = 'default' - name of the collection
// -> key: STRING - name of the entry; the property is meta_ and this
// -> documents: INTEGER - documents that have it
// -> different: INTEGER - different values
// -> values: LIST<STRING> - the most frequent ones
MATCH (d:Document {collection: $collection})
UNWIND [key IN keys(d) WHERE key STARTS WITH 'meta_'] AS key
WITH key, toString(d[key]) AS value, count(*) AS documents ORDER BY documents DESC, value
WITH key, sum(documents) AS documents, count(*) AS different, collect(value)[..10] AS values
RETURN substring(key, 5) AS key, documents, different, values ORDER BY documents DESC, key
