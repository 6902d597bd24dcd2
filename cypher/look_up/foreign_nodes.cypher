// Nodes of somebody else's graph that have a name, with their values and what their relationships join them to: of each
// kind, a type and a direction, the first by name.
// mode: read
// $labels: LIST<STRING> - labels; a node counts with the first that it has
// $names: MAP - label -> property with the name
// $keys: MAP - label -> property with the key
// $properties: MAP - label -> properties wanted
// $kinds: MAP - label -> {type, out, ends} of its relationships; out: whether they begin there; ends: labels
// $most: INTEGER - ends of a kind
// -> label: STRING - label
// -> element: STRING - element id
// -> name: STRING - name
// -> key: STRING - key, or null
// -> values: LIST<ANY> - values of the properties wanted, in that order
// -> kinds: LIST<MAP> - type, out, number of ends, and of the first label, element, name, key, properties of the relationship
MATCH (n) WHERE any(label IN labels(n) WHERE label IN $labels) AND NOT n:Kgrag
WITH n, [label IN $labels WHERE label IN labels(n)][0] AS label
WITH n, label, trim(toStringOrNull(n[$names[label]])) AS name WHERE name <> ''
RETURN label, elementId(n) AS element, name, toStringOrNull(n[$keys[label]]) AS key,
       [property IN $properties[label] | n[property]] AS values,
       COLLECT {
         UNWIND $kinds[label] AS kind
         WITH kind, COLLECT {
           MATCH (n)-[r]-(m)
           WHERE type(r) = kind.type AND (startNode(r) = n) = kind.out AND NOT m:Kgrag
           WITH r, m, [l IN $labels WHERE l IN labels(m)][0] AS end WHERE end IN kind.ends
           WITH r, m, end, trim(toStringOrNull(m[$names[end]])) AS called WHERE called <> ''
           RETURN {label: end, element: elementId(m), name: called, key: toStringOrNull(m[$keys[end]]), properties: properties(r)}
           ORDER BY called, elementId(m), elementId(r) LIMIT $most
         } AS ends WHERE size(ends) > 0
         RETURN {type: kind.type, out: kind.out, ends: ends, number: CASE WHEN size(ends) < $most THEN size(ends) ELSE COUNT {
           MATCH (n)-[r]-(m) WHERE type(r) = kind.type AND (startNode(r) = n) = kind.out
             AND [l IN $labels WHERE l IN labels(m)][0] IN kind.ends
         } END}
       } AS kinds
