// Record that passages were extracted, those that still exist.
// mode: write
// $ids: LIST<STRING> - passage ids
// $version: STRING - version of the prompt
// -> id: STRING - id of a passage that exists
UNWIND $ids AS id
MATCH (p:Passage {id: id})
SET p.extracted = $version
RETURN id
