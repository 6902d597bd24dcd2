// Put a corpus-wide stage on the list of passages.
// mode: write
// $ids: LIST<STRING> - passage ids
// $stage: STRING - name of the stage
UNWIND $ids AS id
MATCH (p:Passage {id: id})
SET p.todo = coalesce(p.todo, []) + [s IN [$stage] WHERE NOT s IN coalesce(p.todo, [])]
