// Put a corpus-wide stage on the list of nodes.
// mode: write
// label: worked
// $ids: LIST<STRING> - ids of the nodes
// $stage: STRING - name of the stage
UNWIND $ids AS id
MATCH (n:Kgrag:{label} {id: id})
SET n.todo = coalesce(n.todo, []) + [s IN [$stage] WHERE NOT s IN coalesce(n.todo, [])]
