// Nodes whose names are too long, and hold what another property holds, too.
// mode: read
// $longest: INTEGER - characters that a name may have
// -> element: STRING - the database's own id of the node
// -> name: STRING - its name
// -> ordinal: INTEGER - of a passage: its place in the document, whose number may begin the name
MATCH (n:Document|Page|Table|Passage|Triple|Run|Step) WHERE size(n.name) > $longest
RETURN elementId(n) AS element, n.name AS name, n.ordinal AS ordinal
