// What surrounds a passage: every edge that leaves or enters it, the strongest first, capped for each kind.
// mode: read
// $id: STRING - passage id
// $limit: INTEGER = 10 - edges of each kind
// -> type: STRING - relationship type
// -> outgoing: BOOLEAN - whether the edge leaves the passage
// -> label: STRING - label of the node at the other end
// -> name: STRING - its name; of a triple its text; of a recognised page also how sure it is
// -> id: STRING - its id
// -> properties: MAP - properties of the edge
// -> total: INTEGER - how many edges of this kind there are
MATCH (p:Kgrag:Passage {id: $id})-[r]-(n)
WITH type(r) AS type, startNode(r) = p AS outgoing, r, n
ORDER BY coalesce(r.score, r.weight, 0) DESC, n.name
WITH type, outgoing, collect({label: [l IN labels(n) WHERE l <> 'Kgrag' AND NOT l CONTAINS '_' AND NOT l IN coalesce(n.types, [])][0], name: CASE WHEN n:Triple THEN n.text WHEN n:Page AND n.confidence IS NOT NULL THEN n.name + ', recognised from a picture, ' + toString(toInteger(n.confidence * 100)) + ' % sure' ELSE n.name END, id: n.id, properties: properties(r)}) AS edges
UNWIND edges[0..$limit] AS edge
RETURN type, outgoing, edge.label AS label, edge.name AS name, edge.id AS id, edge.properties AS properties, size(edges) AS total
ORDER BY type, outgoing
