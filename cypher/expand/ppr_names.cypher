// Personalised PageRank, at the end: names of the nodes on a trail.
// mode: read
// $numbers: LIST<INTEGER> - internal numbers of entities and passages
// -> names: LIST<LIST<ANY>> - [number of the node, its name]
MATCH (n) WHERE id(n) IN $numbers
RETURN collect([id(n), n.name]) AS names
