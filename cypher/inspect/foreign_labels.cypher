// The labels of the nodes that are somebody else's: they do not have the label Kgrag.
// mode: read
// -> label: STRING - label
// -> number: INTEGER - its nodes
MATCH (n) WHERE NOT n:Kgrag
UNWIND labels(n) AS label
RETURN label, count(*) AS number ORDER BY number DESC, label
