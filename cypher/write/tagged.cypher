// Record that TAGME annotated passages, those that still exist; their mentions are due.
// mode: write
// $ids: LIST<STRING> - passage ids
// $version: STRING - what tells the settings from others
// -> id: STRING - id of a passage that exists
UNWIND $ids AS id
MATCH (p:Kgrag:Passage {id: id})
SET p.tagged = $version, p.todo = coalesce(p.todo, []) + [stage IN ['mentions'] WHERE NOT stage IN coalesce(p.todo, [])]
RETURN id
