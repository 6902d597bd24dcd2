// Bring labels and relationships in step with the facts of a schema: all of it follows from SUBJECT, OBJECT, SAME_AS and Triple.
// Names of one entity have one set of types, and the relationships of all stand at the longest name that has a fact; the others
// know it as `facts_at`. This statement deletes the relationships; its rows tell which ones to create.
// mode: write
// $lost: LIST<STRING> - entity ids; entities without facts of a schema are skipped
// $typed: LIST<STRING> - entity ids that may have no such facts yet
// -> key: STRING - id of an entity
// -> relation: STRING - predicate of the schema
// -> turned: BOOLEAN - whether the key is the object of the facts, which has one subject at a time
// -> one: BOOLEAN - whether the key has one other end at a time
// -> settled: LIST<STRING> - ids of the subjects whose relationships are to be made
// -> facts: LIST<MAP> - {id, object, name (the other end), valid_from, valid_to, stated_at, passages}
CALL () {
  UNWIND $lost AS id
  MATCH (x:Kgrag:Entity {id: id}) WHERE x.types IS NOT NULL
  RETURN x
  UNION
  UNWIND $typed AS id
  MATCH (x:Kgrag:Entity {id: id})
  RETURN x
}
CALL (x) { MATCH (x)-[:SAME_AS*0..]-(e:Entity) RETURN DISTINCT e }
WITH DISTINCT e
CALL (e) {
  CALL (e) { MATCH (e)-[:SAME_AS*0..]-(name:Entity) RETURN DISTINCT name }
  WITH name WHERE EXISTS { (name)<-[:SUBJECT|OBJECT]-(t:Triple) WHERE t.relation IS NOT NULL }
  WITH name ORDER BY size(name.normal) DESC, name.normal
  RETURN collect(name) AS names
}
CALL (names) {
  UNWIND names AS name
  MATCH (name)<-[end:SUBJECT|OBJECT]-() WHERE end.type IS NOT NULL
  WITH end.type AS type, count(end) AS number ORDER BY number DESC, type
  WITH collect([type, number]) AS counts
  RETURN [x IN counts WHERE x[1] = counts[0][1] | x[0]] AS types
}
CALL (e, names, types) {
  WITH e, names, coalesce(e.types, []) AS before, CASE WHEN e IN names THEN types END AS now, e.facts_at AS place
  REMOVE e:$([x IN before WHERE NOT x IN coalesce(now, [])])
  SET e:$(coalesce(now, [])), e.types = now, e.facts_at = CASE WHEN names[0] <> e THEN names[0].id END
  RETURN coalesce(place, e.id) <> coalesce(e.facts_at, e.id) AS moved
}
WITH collect({name: e, moved: moved}) AS touched
CALL (touched) {
  UNWIND touched AS x
  RETURN x.name AS e
  UNION ALL
  UNWIND touched AS x
  WITH x.name AS o, x.moved AS moved
  MATCH (c:Kgrag:Collection {id: o.collection}) WHERE moved OR c.one_bearer IS NOT NULL
  MATCH (o)<-[:OBJECT]-(t:Triple)-[:SUBJECT]->(s:Entity) WHERE t.relation IS NOT NULL AND (moved OR t.relation IN c.one_bearer)
  MATCH (e:Kgrag:Entity {id: coalesce(s.facts_at, s.id)})
  RETURN e
}
WITH DISTINCT e
CALL (e) {
  MATCH (e)-[r]->(:Entity) WHERE r.facts IS NOT NULL
  WITH e, r, r.passages AS ids
  DELETE r
  WITH DISTINCT e, ids UNWIND ids AS id
  MATCH (p:Kgrag:Passage {id: id}) WHERE p.held IS NOT NULL
  WITH p, [x IN p.held WHERE NOT x ENDS WITH e.id] AS held
  SET p.held = CASE WHEN size(held) > 0 THEN held END
}
WITH e WHERE e.facts_at IS NULL
CALL (e) {
  CALL (e) { MATCH (e)-[:SAME_AS*0..]-(name:Entity) RETURN DISTINCT name }
  MATCH (name)<-[:SUBJECT]-(t:Triple)-[:OBJECT]->(o:Entity) WHERE t.relation IS NOT NULL
  RETURN t, o
}
MATCH (c:Kgrag:Collection {id: e.collection})
WITH c, e, t, o, t.relation IN coalesce(c.one_bearer, []) AS turned
WITH c, t.relation AS relation, turned, CASE WHEN turned THEN coalesce(o.facts_at, o.id) ELSE e.id END AS key,
     collect(DISTINCT e.id) AS settled, collect([t, o]) AS own
CALL (key, relation, turned, own) {
  WITH own WHERE NOT turned
  UNWIND own AS fact
  RETURN fact[0] AS t, fact[1] AS end
  UNION ALL
  WITH key, relation WHERE turned
  CALL (key) { MATCH (:Kgrag:Entity {id: key})-[:SAME_AS*0..]-(name:Entity) RETURN DISTINCT name }
  MATCH (name)<-[:OBJECT]-(t:Triple)-[:SUBJECT]->(end:Entity) WHERE t.relation = relation
  RETURN t, end
}
MATCH (o:Kgrag:Entity {id: coalesce(end.facts_at, end.id)})
WITH c, key, relation, turned, settled, t, o, COLLECT { MATCH (p:Passage)-[:STATES]->(t) RETURN p.id ORDER BY p.id } AS passages ORDER BY t.id
RETURN key, relation, turned, turned OR relation IN coalesce(c.one_valued, []) AS one, settled,
       collect({id: t.id, object: o.id, name: o.name, valid_from: t.valid_from, valid_to: t.valid_to, stated_at: t.stated_at, passages: passages}) AS facts
