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
WITH d, key, toStringList([] + d[key]) AS each
UNWIND range(0, size(each) - 1) AS i
WITH key, each[i] AS value, count(*) AS times, sum(CASE i WHEN 0 THEN 1 END) AS documents ORDER BY times DESC, value
WITH key, sum(documents) AS documents, count(*) AS different, collect(value)[..10] AS values
RETURN substring(key, 5) AS key, documents, different, values ORDER BY documents DESC, key
