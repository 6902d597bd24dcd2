// Personalised PageRank, at the end: names of the nodes on a trail.
// mode: read
// $elements: LIST<STRING> - element ids of entities and passages
// -> names: LIST<LIST<ANY>> - [element id of the node, its name]
MATCH (n) WHERE elementId(n) IN $elements
RETURN collect([elementId(n), n.name]) AS names
