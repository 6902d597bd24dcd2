// Take a corpus-wide stage off the list of Words.
// mode: write
// $ids: LIST<STRING> - Word ids
// $stage: STRING - name of the stage
UNWIND $ids AS id
MATCH (n:Word {id: id})
WITH n, [s IN coalesce(n.todo, []) WHERE s <> $stage] AS todo
SET n.todo = CASE WHEN size(todo) > 0 THEN todo END
