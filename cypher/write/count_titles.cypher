// Count the distinct titles that bear each entity's name.
// mode: write
// $ids: LIST<STRING> - entity ids
UNWIND $ids AS id
MATCH (e:Entity {id: id})
CALL (e) { MATCH (e)<-[:ABOUT]-(d:Document) RETURN count(DISTINCT toLower(d.title)) AS ntit }
SET e.ntit = ntit
