// How many edges of each type leave the nodes of a label in one collection, as the store counts them: none is read.
// mode: read
// label: own
// -> type: STRING - relationship type
// -> number: INTEGER - relationships
WITH {
  OF_TABLE: COUNT { (:{label})-[:OF_TABLE]->() }, REFERS_TO: COUNT { (:{label})-[:REFERS_TO]->() }, NEXT: COUNT { (:{label})-[:NEXT]->() },
  SUMMARISES: COUNT { (:{label})-[:SUMMARISES]->() }, IN_COMMUNITY: COUNT { (:{label})-[:IN_COMMUNITY]->() },
  PART_OF: COUNT { (:{label})-[:PART_OF]->() }, ABOUT: COUNT { (:{label})-[:ABOUT]->() },
  MENTIONS: COUNT { (:{label})-[:MENTIONS]->() }, HAS_KEYWORD: COUNT { (:{label})-[:HAS_KEYWORD]->() },
  NAMES: COUNT { (:{label})-[:NAMES]->() }, SIMILAR: COUNT { (:{label})-[:SIMILAR]->() },
  SAME_AS: COUNT { (:{label})-[:SAME_AS]->() }, STATES: COUNT { (:{label})-[:STATES]->() },
  SUBJECT: COUNT { (:{label})-[:SUBJECT]->() }, OBJECT: COUNT { (:{label})-[:OBJECT]->() }
} AS counted
UNWIND keys(counted) AS type
WITH type, counted[type] AS number WHERE number > 0
RETURN type, number ORDER BY type
