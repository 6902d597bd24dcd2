// Remove the mentions that TAGME found in passages; a mention that the passage has anyway stays.
// mode: write
// $ids: LIST<STRING> - passage ids
// -> entity: STRING - entity that lost one
UNWIND $ids AS id
MATCH (:Kgrag:Passage {id: id})-[m:MENTIONS]->(e:Entity) WHERE m.tagme IS NOT NULL
WITH e, collect(CASE WHEN m.via = 'tagme' THEN m END) AS gone, collect(CASE WHEN m.via <> 'tagme' THEN m END) AS kept
FOREACH (m IN gone | DELETE m)
FOREACH (m IN kept | REMOVE m.tagme, m.spots, m.wikipedia)
RETURN e.id AS entity
