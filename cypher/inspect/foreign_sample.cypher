// The properties of some nodes of a label that are somebody else's.
// mode: read
// $label: STRING - label
// $own: LIST<STRING> - kgrag's labels
// $limit: INTEGER - nodes wanted
// -> properties: MAP - name -> value
MATCH (n) WHERE $label IN labels(n) AND none(label IN labels(n) WHERE label IN $own)
RETURN properties(n) AS properties LIMIT $limit
