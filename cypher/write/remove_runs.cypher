// Remove runs and their steps.
// mode: write
// $ids: LIST<STRING> - run ids
MATCH (r:Kgrag:Run) WHERE r.id IN $ids
OPTIONAL MATCH (r)-[:HAS_STEP]->(s:Step)
DETACH DELETE r, s
