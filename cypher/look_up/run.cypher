// How an answer came about, to be looked at in Neo4j Browser: a run, its steps in their order, the three best passages
// of the answer and of each step, the triples that its facts were linked to, and the passages that the answer cites.
// mode: read
// $id: STRING - run id
// -> path: PATH - an edge of the run, or the run alone
MATCH path = (:Kgrag:Run {id: $id})
RETURN path
UNION
MATCH path = (:Kgrag:Run {id: $id})-[edge:HAS_STEP|CITES|FOUND]->()
WHERE coalesce(edge.rank, 1) <= 3
RETURN path
UNION
MATCH (:Kgrag:Run {id: $id})-[:HAS_STEP]->(step:Step)
MATCH path = (step)-[edge:NEXT|RETRIEVED|LINKED]->()
WHERE coalesce(edge.rank, 1) <= 3
RETURN path
