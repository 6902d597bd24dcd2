// Record that TAGME annotated the passages that still exist; their mentions become pending.
// mode: write
// $ids: LIST<STRING> - passage ids
// $version: STRING - a text that identifies the settings
// -> id: STRING - id of a passage that exists
UNWIND $ids AS id
MATCH (p:Kgrag:Passage {id: id})
SET p.tagged = $version, p.todo = coalesce(p.todo, []) + [stage IN ['mentions'] WHERE NOT stage IN coalesce(p.todo, [])]
RETURN id
