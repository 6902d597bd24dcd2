// Personalised PageRank, at the end: names of the nodes on a trail.
// mode: read
// $numbers: LIST<INTEGER> - internal numbers of entities and passages
// -> number: INTEGER - number of the node
// -> name: STRING - its name
MATCH (n) WHERE id(n) IN $numbers
RETURN id(n) AS number, n.name AS name
