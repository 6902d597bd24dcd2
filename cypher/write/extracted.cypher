// Record that passages were extracted, those that still exist, and what a schema of facts did not hold of their replies.
// mode: write
// $rows: LIST<MAP> - {id (of a passage), outside (LIST<STRING>?)}
// $version: STRING - version of the prompt
// -> id: STRING - id of a passage that exists
UNWIND $rows AS row
MATCH (p:Kgrag:Passage {id: row.id})
SET p.extracted = $version, p.outside = row.outside
RETURN p.id AS id
