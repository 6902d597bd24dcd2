// How many passages documents have, and how many triples these state.
// mode: read
// $ids: LIST<STRING> - document ids
// -> document: STRING - document id
// -> passages: INTEGER - passages of the document
// -> triples: INTEGER - triples that they state
// source: GEAR, appendix G (triple density)
UNWIND $ids AS document
MATCH (:Kgrag:Document {id: document})-[:HAS_PASSAGE]->(p:Passage)
WITH document, p, COUNT { (p)-[:STATES]->(:Triple) } AS stated
RETURN document, count(p) AS passages, sum(stated) AS triples ORDER BY document
