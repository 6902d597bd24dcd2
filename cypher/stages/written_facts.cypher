// Return the facts of a collection with the entities that they are tied to.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - triple id
// -> relation: STRING - predicate of the schema of facts, or null
// -> subject: STRING - the subject as written
// -> subject_id: STRING - id of its entity
// -> subject_name: STRING - name of its entity
// -> subject_normal: STRING - what that entity is known by
// -> subject_is_own: BOOLEAN - whether the entity bears the name as it is written
// -> object: STRING - the object as written
// -> object_id: STRING - id of its entity
// -> object_name: STRING - name of its entity
// -> object_normal: STRING - what that entity is known by
// -> object_is_own: BOOLEAN - whether the entity bears the name as it is written
MATCH (t:Triple {collection: $collection})
MATCH (t)-[a:SUBJECT]->(s:Entity)
MATCH (t)-[b:OBJECT]->(o:Entity)
RETURN t.id AS id, t.relation AS relation,
       t.subject AS subject, s.id AS subject_id, s.name AS subject_name, s.normal AS subject_normal, a.extracted IS NULL AS subject_is_own,
       t.object AS object, o.id AS object_id, o.name AS object_name, o.normal AS object_normal, b.extracted IS NULL AS object_is_own
ORDER BY id
