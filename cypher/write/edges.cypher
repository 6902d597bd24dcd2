// Make relationships of any type between nodes that are there, by what the server calls these.
// mode: write
// $rows: LIST<MAP> - start, end: STRING (element ids); type: STRING; properties: MAP
// -> number: INTEGER - relationships made
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row.start
MATCH (b) WHERE elementId(b) = row.end
CREATE (a)-[r:$(row.type)]->(b)
SET r = row.properties
RETURN count(r) AS number
