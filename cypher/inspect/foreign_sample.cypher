// The properties of some nodes of a label that are somebody else's.
// mode: read
// $label: STRING - label
// $limit: INTEGER - nodes wanted
// -> properties: MAP - name -> value
MATCH (n) WHERE $label IN labels(n) AND NOT n:Kgrag
RETURN properties(n) AS properties LIMIT $limit
