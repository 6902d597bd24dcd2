// The properties that make up the texts of the vectors of nodes.
// mode: read
// label: embedded
// $ids: LIST<STRING> - ids of the nodes
// $parts: LIST<STRING> - properties wanted
// -> id: STRING - id of a node
// -> parts: LIST<STRING> - their values
UNWIND $ids AS id
MATCH (n:Kgrag:{label} {id: id})
RETURN id, [part IN $parts | n[part]] AS parts
