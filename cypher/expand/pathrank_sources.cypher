// PathRank, between two hops: what the next hop wants to know of passages.
// mode: read
// $ids: LIST<STRING> - passage ids
// $links: LIST<STRING> - entities that the question names
// -> sources: LIST<MAP> - {id, title (of its document), own ({id, weight} of the entities that its document's title or its own headings name), mentioned (those of the question's entities that it mentions)}
UNWIND $ids AS id
MATCH (d:Document)-[:HAS_PASSAGE]->(x:Passage {id: id})
WITH id, x.title AS title, [(d)-[a:ABOUT]->(e:Entity) | {id: e.id, weight: a.weight}] + [(x)-[a:ABOUT]->(e:Entity) | {id: e.id, weight: a.weight}] AS own,
       [(x)-[:MENTIONS]->(e:Entity) WHERE e.id IN $links | e.id] AS mentioned
RETURN collect({id: id, title: title, own: own, mentioned: mentioned}) AS sources
