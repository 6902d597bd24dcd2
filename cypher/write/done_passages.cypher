// Take a corpus-wide stage off the list of Passages.
// mode: write
// $ids: LIST<STRING> - Passage ids
// $stage: STRING - name of the stage
UNWIND $ids AS id
MATCH (n:Passage {id: id})
WITH n, [s IN coalesce(n.todo, []) WHERE s <> $stage] AS todo
SET n.todo = CASE WHEN size(todo) > 0 THEN todo END
