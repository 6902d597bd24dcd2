// GFM-RAG, training: the entities that some passages mention.
// mode: read
// $passages: LIST<STRING> - passage ids
// -> entities: LIST<STRING> - their element ids
UNWIND $passages AS id
MATCH (p:Kgrag:Passage {id: id})-[:MENTIONS]->(e:Entity)
WITH DISTINCT e ORDER BY e.id
RETURN collect(elementId(e)) AS entities
