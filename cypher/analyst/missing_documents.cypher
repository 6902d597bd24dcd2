// title: Entities: without a document of their own
// Names that two or more passages mention although no document or heading is about them: candidates to ingest next.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $limit: INTEGER = 25 - rows wanted
// -> name: STRING - the name
// -> passages: INTEGER - passages that mention it
// -> triples: INTEGER - triples about it
MATCH (e:Entity {collection: $collection}) WHERE e.df > 1 AND e.ntit = 0
WITH e ORDER BY e.df DESC, e.name LIMIT toInteger($limit)
RETURN e.name AS name, e.df AS passages, COUNT { (e)<-[:SUBJECT|OBJECT]-() } AS triples
ORDER BY passages DESC, name
