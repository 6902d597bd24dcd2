// PathRank, at the end: the names that tie passages together.
// mode: read
// $ids: LIST<STRING> - passage ids
// $cap: INTEGER = 50 - passages that a name may have, unless it is a title
// -> id: STRING - passage id
// -> mentions: LIST<STRING> - entities that it mentions
// -> own: LIST<MAP> - {id, weight} of the entities that its document's title or its own headings name
UNWIND $ids AS id
MATCH (d:Document)-[:HAS_PASSAGE]->(x:Passage {id: id})
RETURN id, [(x)-[:MENTIONS]->(e:Entity) WHERE (e.df > 1 AND e.df <= $cap) OR e.ntit > 0 | e.id] AS mentions,
       [(d)-[a:ABOUT]->(e:Entity) | {id: e.id, weight: a.weight}] + [(x)-[a:ABOUT]->(e:Entity) | {id: e.id, weight: a.weight}] AS own
