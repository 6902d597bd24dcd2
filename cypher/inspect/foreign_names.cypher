// How many nodes of somebody else's graph have a name, and how many a key that no other one has.
// mode: read
// $labels: LIST<STRING> - labels; a node counts with the first that it has
// $names: MAP - label -> property with the name
// $keys: MAP - label -> property with the key
// -> label: STRING - label
// -> nodes: INTEGER - its nodes
// -> named: INTEGER - those with a name
// -> keyed: INTEGER - those with a key
// -> keys: INTEGER - different keys
MATCH (n) WHERE any(label IN labels(n) WHERE label IN $labels) AND NOT n:Kgrag
WITH n, [label IN $labels WHERE label IN labels(n)][0] AS label
WITH label, trim(toStringOrNull(n[$names[label]])) AS name, toStringOrNull(n[$keys[label]]) AS key
RETURN label, count(*) AS nodes, sum(CASE WHEN name <> '' THEN 1 ELSE 0 END) AS named, count(key) AS keyed, count(DISTINCT key) AS keys
