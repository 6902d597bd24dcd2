// GFM-RAG, at the end: the passages that mention the most relevant entities; an entity counts the less the more mention it.
// mode: read
// $elements: LIST<STRING> - element ids of the entities, the most relevant first
// $weights: LIST<FLOAT> - how much each of them counts
// $limit: INTEGER = 1000 - passages wanted
// -> rows: LIST<LIST<ANY>> - [id, score, place in $elements and name of its most relevant entity], best first
UNWIND range(0, size($elements) - 1) AS place
MATCH (e:Entity) WHERE elementId(e) = $elements[place] AND e.df > 0 // it is 0 until the end of an ingest
MATCH (e)<-[:MENTIONS]-(p:Passage)
WITH p, e, place ORDER BY place
WITH p, sum($weights[place] / e.df) AS score, head(collect([place, e.name])) AS first ORDER BY score DESC, p.id LIMIT $limit
RETURN collect([p.id, score] + first) AS rows
