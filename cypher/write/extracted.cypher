// Record the extraction of passages that still exist, and the parts of the replies outside the schema of facts.
// mode: write
// $rows: LIST<MAP> - {id (of a passage), outside (LIST<STRING>?)}
// $version: STRING - version of the prompt
// -> id: STRING - id of a passage that exists
UNWIND $rows AS row
MATCH (p:Kgrag:Passage {id: row.id})
SET p.extracted = $version, p.outside = row.outside
RETURN p.id AS id
