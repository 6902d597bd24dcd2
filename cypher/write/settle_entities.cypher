// Bring entities in step after a removal. Recount them, gather their other names, and mark them to be named anew. Mark
// the passages that mention a name which texts are no longer searched for. An entity without a title or triple loses its
// vector, and its neighbours look for others. An entity that nothing names is removed.
// mode: write
// $ids: LIST<STRING> - entity ids
UNWIND $ids AS id
MATCH (e:Kgrag:Entity {id: id})
SET e.df = COUNT { (e)<-[:MENTIONS]-() }
WITH e
CALL (e) {
  WITH e WHERE e.aliases IS NOT NULL OR e.wikipedia IS NOT NULL
  WITH e, COLLECT { MATCH (e)<-[end:SUBJECT|OBJECT]-() UNWIND end.aliases AS alias RETURN DISTINCT alias ORDER BY alias } AS aliases,
       COLLECT { MATCH (e)<-[end:SUBJECT|OBJECT|MENTIONS]-() WHERE end.wikipedia IS NOT NULL RETURN DISTINCT end.wikipedia AS title ORDER BY title } AS titles
  SET e.aliases = CASE WHEN size(aliases) > 0 THEN aliases END, e.wikipedia = head(titles)
}
CALL (e) {
  WITH e WHERE e.phrases < 2 AND NOT EXISTS { (e)<-[:ABOUT]-() }
  MATCH (e)<-[m:MENTIONS]-(p:Passage) WHERE m.via IN ['local', 'title']
  SET p.todo = coalesce(p.todo, []) + [stage IN ['mentions'] WHERE NOT stage IN coalesce(p.todo, [])]
}
SET e.todo = coalesce(e.todo, []) + [stage IN ['titles'] WHERE NOT stage IN coalesce(e.todo, [])]
WITH e WHERE NOT EXISTS { (e)<-[:ABOUT|SUBJECT|OBJECT]-() }
CALL (e) {
  MATCH (e)<-[:SIMILAR]-(f:Entity)
  SET f.todo = coalesce(f.todo, []) + [stage IN ['similar'] WHERE NOT stage IN coalesce(f.todo, [])]
}
CALL (e) { MATCH (e)-[s:SIMILAR]-() DELETE s }
WITH e, [stage IN coalesce(e.todo, []) WHERE stage <> 'similar'] AS todo
SET e.named = null, e.stemmed = null, e.embedding = null, e.embedding_b = null, e.similar_floor = null, e.todo = CASE WHEN size(todo) > 0 THEN todo END
WITH e WHERE e.phrases <= 0 AND NOT EXISTS { (e)<-[m:MENTIONS]-() WHERE m.tagme IS NOT NULL }
DETACH DELETE e
