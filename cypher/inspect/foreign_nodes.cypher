// How many nodes of the database belong to no collection: somebody else's.
// mode: read
// -> number: INTEGER - nodes
MATCH (n) WHERE n.collection IS NULL AND NOT n:Schema
RETURN count(n) AS number
