// title: Documents: where they come from
// The files and addresses that documents were read from, those with the most documents first.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $limit: INTEGER = 25 - rows wanted
// -> source: STRING - file or address, without the place inside it
// -> documents: INTEGER - documents read from it
// -> passages: INTEGER - passages of these
// -> updated: DATETIME - when the last of them was written to the graph
MATCH (d:Document {collection: $collection})
WITH split(d.source, '#')[0] AS source, count(*) AS documents, sum(COUNT { (d)-[:HAS_PASSAGE]->() }) AS passages, max(d.updated) AS updated
RETURN source, documents, passages, updated ORDER BY documents DESC, source LIMIT toInteger($limit)
