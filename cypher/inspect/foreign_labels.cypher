// The labels of the nodes that are somebody else's: none of their labels is kgrag's.
// mode: read
// $own: LIST<STRING> - kgrag's labels
// -> label: STRING - label
// -> number: INTEGER - its nodes
MATCH (n) WHERE none(label IN labels(n) WHERE label IN $own)
UNWIND labels(n) AS label
RETURN label, count(*) AS number ORDER BY number DESC, label
