// The properties that no node of a label, or no relationship of a type, has in somebody else's graph.
// mode: read
// $labels: MAP - label -> names of properties
// $types: MAP - type -> names of properties
// -> name: STRING - label or type
// -> property: STRING - name of the property
CALL () {
  UNWIND keys($labels) AS name UNWIND $labels[name] AS property
  WITH name, property WHERE NOT EXISTS { MATCH (n:$(name)) WHERE n[property] IS NOT NULL }
  RETURN name, property
  UNION ALL
  UNWIND keys($types) AS name UNWIND $types[name] AS property
  WITH name, property WHERE NOT EXISTS { MATCH ()-[r:$(name)]->() WHERE r[property] IS NOT NULL }
  RETURN name, property
}
RETURN name, property
