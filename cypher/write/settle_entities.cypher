// After a removal: recount entities, mark who mentioned those that are names no longer, and remove those that nothing
// names.
// mode: write
// $ids: LIST<STRING> - entity ids
UNWIND $ids AS id
MATCH (e:Entity {id: id})
SET e.df = COUNT { (e)<-[:MENTIONS]-() }
WITH e WHERE e.phrases < 2 AND NOT EXISTS { (e)<-[:ABOUT|SUBJECT|OBJECT]-() }
CALL (e) {
  MATCH (e)<-[:MENTIONS]-(p:Passage)
  SET p.todo = coalesce(p.todo, []) + [stage IN ['mentions'] WHERE NOT stage IN coalesce(p.todo, [])]
}
WITH e WHERE e.phrases <= 0
DETACH DELETE e
