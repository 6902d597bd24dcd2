// title: Run: how an answer came about
// A kept answer as a graph: its steps in order, the best passages of each, the triples linked to its facts, and the
// passages that it cites. To be drawn.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $run: STRING = '' - beginning of the run's id (`runs` lists them); empty: the newest
// $best: INTEGER = 3 - passages of the answer and of each step
// -> path: PATH - an edge of the run
MATCH (r:Run {collection: $collection}) WHERE r.id STARTS WITH $run
WITH r ORDER BY r.created DESC, r.id LIMIT 1
CALL (r) {
  MATCH path = (r)-[edge:HAS_STEP|CITES|FOUND]->() WHERE coalesce(edge.rank, 1) <= $best
  RETURN path
  UNION ALL
  MATCH (r)-[:HAS_STEP]->(step:Step)
  MATCH path = (step)-[edge:NEXT|RETRIEVED|LINKED]->() WHERE coalesce(edge.rank, 1) <= $best
  RETURN path
}
RETURN path
