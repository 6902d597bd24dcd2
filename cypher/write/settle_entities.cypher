// After a removal: recount entities; those that no title or triple names any more lose their vector, and who had them as
// neighbours must look for others; mark who mentioned those that are names no longer, and remove those that nothing names.
// mode: write
// $ids: LIST<STRING> - entity ids
UNWIND $ids AS id
MATCH (e:Entity {id: id})
SET e.df = COUNT { (e)<-[:MENTIONS]-() }
WITH e WHERE NOT EXISTS { (e)<-[:ABOUT|SUBJECT|OBJECT]-() }
CALL (e) {
  MATCH (e)<-[:SIMILAR]-(f:Entity)
  SET f.todo = coalesce(f.todo, []) + [stage IN ['similar'] WHERE NOT stage IN coalesce(f.todo, [])]
}
CALL (e) { MATCH (e)-[s:SIMILAR]-() DELETE s }
WITH e, [stage IN coalesce(e.todo, []) WHERE stage <> 'similar'] AS todo
SET e.embedding = null, e.embedding_b = null, e.similar_floor = null, e.todo = CASE WHEN size(todo) > 0 THEN todo END
WITH e WHERE e.phrases < 2
CALL (e) {
  MATCH (e)<-[:MENTIONS]-(p:Passage)
  SET p.todo = coalesce(p.todo, []) + [stage IN ['mentions'] WHERE NOT stage IN coalesce(p.todo, [])]
}
WITH e WHERE e.phrases <= 0
DETACH DELETE e
