// title: Entity: its facts in the order of time
// The facts of an entity by its schema, with their validity as the texts state it. If a predicate has one value at a time,
// a later beginning ends the fact before. With a date: only facts that may be valid then, as far as the dates are precise.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $entity: STRING = 'Roald Amundsen' - name of the entity
// $as_of: STRING = '' - a date such as 1912, 1912-03 or 1912-03-07; empty: all of its history
// $limit: INTEGER = 25 - rows wanted
// -> subject: STRING - subject
// -> predicate: STRING - predicate of the schema
// -> object: STRING - object
// -> valid_from: STRING - the beginning, as precise as in the texts; null: unknown
// -> valid_to: STRING - until when; null: unknown, or still
// -> ended_by: STRING - the later object whose beginning is its end, where no text says one
// -> stated_at: STRING - the date of the first document that states it
// -> passages: LIST<STRING> - ids of the passages that state it
MATCH (c:Kgrag:Collection {id: $collection})
CALL db.index.fulltext.queryNodes('entity_name_c' + c.number, '"' + replace($entity, '"', ' ') + '"', {limit: 20}) YIELD node AS e, score
WITH e ORDER BY toLower(e.name) = toLower($entity) DESC, e.types IS NOT NULL DESC, score DESC, e.df DESC LIMIT 1
MATCH (at:Kgrag:Entity {id: coalesce(e.facts_at, e.id)})-[r]-(:Entity) WHERE r.facts IS NOT NULL
WITH DISTINCT r
WHERE $as_of = ''
   OR ((r.valid_from IS NULL OR left(r.valid_from, size($as_of)) <= left($as_of, size(r.valid_from)))
       AND (r.valid_to IS NULL OR left($as_of, size(r.valid_to)) <= left(r.valid_to, size($as_of)))
       AND (r.ended_by IS NULL OR size(r.valid_to) < 10 OR $as_of <> r.valid_to))
RETURN startNode(r).name AS subject, type(r) AS predicate, endNode(r).name AS object, r.valid_from AS valid_from,
       r.valid_to AS valid_to, r.ended_by AS ended_by, r.stated_at AS stated_at, r.passages AS passages
ORDER BY subject, predicate, coalesce(r.valid_from, r.stated_at, ''), object LIMIT toInteger($limit)
