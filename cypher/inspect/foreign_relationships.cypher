// The relationships between nodes of somebody else's graph, by type and the labels of their ends.
// mode: read
// $labels: LIST<STRING> - labels; a node counts with the first that it has
// -> type: STRING - type
// -> start: STRING - label of the nodes that they begin at
// -> end: STRING - label of the nodes at their end
// -> number: INTEGER - relationships
// -> properties: LIST<LIST<STRING>> - names of the properties that they have
MATCH (n)-[r]->(m)
WHERE any(label IN labels(n) WHERE label IN $labels) AND any(label IN labels(m) WHERE label IN $labels)
  AND NOT n:Kgrag AND NOT m:Kgrag
WITH r, [label IN $labels WHERE label IN labels(n)][0] AS start, [label IN $labels WHERE label IN labels(m)][0] AS end
RETURN type(r) AS type, start, end, count(*) AS number, collect(DISTINCT keys(r)) AS properties
ORDER BY type, number DESC, start, end
