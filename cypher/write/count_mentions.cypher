// Count the passages that mention each entity.
// mode: write
// $ids: LIST<STRING> - entity ids
UNWIND $ids AS id
MATCH (e:Entity {id: id})
SET e.df = COUNT { (e)<-[:MENTIONS]-() }
