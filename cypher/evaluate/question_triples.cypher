// Facts of a collection with the passages that state them; ids are hashes, so a limit takes them at random.
// mode: read
// $collection: STRING - name of the collection
// $limit: INTEGER = 100000 - facts at most
// -> passage: STRING - id of the passage that states it
// -> document: STRING - the document's key
// -> subject: STRING - subject
// -> predicate: STRING - predicate
// -> object: STRING - object
// -> subject_id: STRING - id of the entity that is its subject
// -> object_id: STRING - id of the entity that is its object
MATCH (t:Triple {collection: $collection})
WITH t ORDER BY t.id LIMIT $limit
MATCH (d:Document)-[:HAS_PASSAGE]->(p:Passage)-[:STATES]->(t), (t)-[:SUBJECT]->(s:Entity), (t)-[:OBJECT]->(o:Entity)
RETURN p.id AS passage, d.key AS document, t.subject AS subject, t.predicate AS predicate, t.object AS object,
       s.id AS subject_id, o.id AS object_id
