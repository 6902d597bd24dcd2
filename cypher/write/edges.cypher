// Create relationships of any type between existing nodes, by their element ids.
// mode: write
// $rows: LIST<LIST> - of each relationship: start, end: STRING (element ids); type: STRING; properties: MAP
// -> number: INTEGER - relationships made
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row[0]
MATCH (b) WHERE elementId(b) = row[1]
CREATE (a)-[r:$(row[2])]->(b)
SET r = row[3]
RETURN count(r) AS number
