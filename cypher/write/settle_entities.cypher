// After a removal: recount entities, and remove those that no title or triple names; who mentioned them is due.
// mode: write
// $ids: LIST<STRING> - entity ids
UNWIND $ids AS id
MATCH (e:Entity {id: id})
SET e.df = COUNT { (e)<-[:MENTIONS]-() }
WITH e WHERE NOT EXISTS { (e)<-[:ABOUT|SUBJECT|OBJECT]-() }
CALL (e) {
  MATCH (e)<-[:MENTIONS]-(p:Passage)
  SET p.todo = coalesce(p.todo, []) + [stage IN ['mentions'] WHERE NOT stage IN coalesce(p.todo, [])]
}
DETACH DELETE e
