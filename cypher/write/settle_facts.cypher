// Entities have the labels that their facts give them most often; and what the schema of facts knows of those that are
// subjects: all of it follows from SUBJECT, OBJECT and Triple alone. Their relationships are taken off, to be made anew.
// mode: write
// $ids: LIST<STRING> - entity ids
// $fresh: BOOLEAN = false - whether they may have no type yet; else only those that have are looked at
// -> subject: STRING - id of an entity
// -> relation: STRING - predicate of the schema
// -> one: BOOLEAN - whether a subject has one object at a time
// -> facts: LIST<MAP> - {id, object (id), name (of the object), valid_from, valid_to, stated_at, passages}
UNWIND $ids AS id
MATCH (e:Kgrag:Entity {id: id}) WHERE $fresh OR e.types IS NOT NULL
CALL (e) {
  OPTIONAL MATCH (e)<-[end:SUBJECT|OBJECT]-() WHERE end.type IS NOT NULL
  WITH end.type AS type, count(end) AS number ORDER BY number DESC, type
  WITH collect([type, number]) AS counts
  RETURN [x IN counts WHERE x[1] = counts[0][1] AND x[0] IS NOT NULL | x[0]] AS types
}
CALL (e, types) {
  WITH e, types, coalesce(e.types, []) AS before
  REMOVE e:$([x IN before WHERE NOT x IN types])
  SET e:$(types), e.types = CASE WHEN size(types) > 0 THEN types END
}
CALL (e) {
  MATCH (e)-[r]->(:Entity) WHERE r.facts IS NOT NULL
  WITH e, r, r.passages AS ids
  DELETE r
  WITH DISTINCT e, ids UNWIND ids AS id
  MATCH (p:Kgrag:Passage {id: id}) WHERE p.held IS NOT NULL
  WITH p, [x IN p.held WHERE NOT x ENDS WITH e.id] AS held
  SET p.held = CASE WHEN size(held) > 0 THEN held END
}
WITH e
MATCH (e)<-[:SUBJECT]-(t:Triple)-[:OBJECT]->(o:Entity) WHERE t.relation IS NOT NULL
MATCH (c:Kgrag:Collection {id: e.collection})
WITH c, e, t, o, COLLECT { MATCH (p:Passage)-[:STATES]->(t) RETURN p.id ORDER BY p.id } AS passages ORDER BY t.id
RETURN e.id AS subject, t.relation AS relation, t.relation IN coalesce(c.one_valued, []) AS one,
       collect({id: t.id, object: o.id, name: o.name, valid_from: t.valid_from, valid_to: t.valid_to, stated_at: t.stated_at, passages: passages}) AS facts
