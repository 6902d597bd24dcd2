// The facts of a schema that passages state and whose validity is known.
// mode: read
// $passages: LIST<STRING> - passage ids
// $as_of: STRING = '' - a date: only what held then; empty: all
// -> subject: STRING - name of the subject
// -> relation: STRING - predicate of the schema
// -> object: STRING - name of the object
// -> valid_from: STRING - since when, or null
// -> valid_to: STRING - until when, or null
// -> ended_by: STRING - the later object whose beginning is its end, or null
UNWIND $passages AS id
MATCH (:Kgrag:Passage {id: id})-[:STATES]->(t:Triple)-[:SUBJECT]->(s:Entity) WHERE t.relation IS NOT NULL
MATCH (t)-[:OBJECT]->(o:Entity)
MATCH (at:Kgrag:Entity {id: coalesce(s.facts_at, s.id)})-[r]->(:Entity) WHERE t.id IN r.facts AND (r.valid_from IS NOT NULL OR r.valid_to IS NOT NULL)
WITH s, r, o
WHERE $as_of = ''
   OR ((r.valid_from IS NULL OR left(r.valid_from, size($as_of)) <= left($as_of, size(r.valid_from)))
       AND (r.valid_to IS NULL OR left($as_of, size(r.valid_to)) <= left(r.valid_to, size($as_of)))
       AND (r.ended_by IS NULL OR size(r.valid_to) < 10 OR $as_of <> r.valid_to))
RETURN DISTINCT s.name AS subject, type(r) AS relation, o.name AS object, r.valid_from AS valid_from, r.valid_to AS valid_to, r.ended_by AS ended_by
ORDER BY subject, relation, coalesce(valid_from, ''), object
