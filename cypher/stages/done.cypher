// Take a corpus-wide stage off the list of nodes.
// mode: write
// label: worked
// $ids: LIST<STRING> - ids of the nodes
// $stage: STRING - name of the stage
UNWIND $ids AS id
MATCH (n:Kgrag:{label} {id: id})
WITH n, [s IN coalesce(n.todo, []) WHERE s <> $stage] AS todo
SET n.todo = CASE WHEN size(todo) > 0 THEN todo END
