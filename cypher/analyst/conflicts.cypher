// title: Triples: that may contradict each other
// Subjects with several objects for one predicate, such as two places of birth: an error, or a list.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $predicate: STRING = '' - only predicates that contain this, such as born; empty: all
// $limit: INTEGER = 25 - rows wanted
// -> subject: STRING - subject
// -> predicate: STRING - predicate
// -> objects: LIST<STRING> - what passages give as its object
// -> passages: INTEGER - passages that state one of them
// -> nodes: LIST<NODE> - the triples, to be drawn
MATCH (t:Triple {collection: $collection}) WHERE toLower(t.predicate) CONTAINS toLower($predicate)
WITH toLower(t.subject) AS subject, toLower(t.predicate) AS predicate, collect(t) AS triples, count(DISTINCT toLower(t.object)) AS different
WHERE different > 1
WITH subject, predicate, triples, different ORDER BY different, subject, predicate LIMIT toInteger($limit)
UNWIND triples AS t
MATCH (p:Passage)-[:STATES]->(t)
WITH different, subject, predicate, t, p ORDER BY t.object
WITH different, subject, predicate, head(collect(t.subject)) AS name, collect(DISTINCT t.object) AS objects, count(DISTINCT p) AS passages, collect(DISTINCT t) AS nodes
RETURN name AS subject, predicate, objects, passages, nodes ORDER BY different, subject, predicate
