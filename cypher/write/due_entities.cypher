// Put a corpus-wide stage on the list of entities.
// mode: write
// $ids: LIST<STRING> - entity ids
// $stage: STRING - name of the stage
UNWIND $ids AS id
MATCH (e:Entity {id: id})
SET e.todo = coalesce(e.todo, []) + [s IN [$stage] WHERE NOT s IN coalesce(e.todo, [])]
