// Keep a run: a question and what a system answered, with the passages that were found and cited, best first.
// mode: write
// $id: STRING - run id
// $collection: STRING - name of the collection
// $properties: MAP - name, question, system, answer, found, problem, cut, seconds, calls, tokens, cost
// $found: LIST<MAP> - {id (of a passage), rank, score}
// $cited: LIST<MAP> - {id (of a passage), number}
// -> id: STRING - run id; no row when there is no such collection
MATCH (:Kgrag:Collection {id: $collection})
MERGE (r:Kgrag:Run {id: $id})
SET r += $properties, r.collection = $collection, r.created = datetime()
WITH r
CALL (r) {
  UNWIND $found AS hit
  MATCH (p:Kgrag:Passage {id: hit.id})
  MERGE (r)-[f:FOUND]->(p)
  SET f.rank = hit.rank, f.score = hit.score
}
CALL (r) {
  UNWIND $cited AS citation
  MATCH (p:Kgrag:Passage {id: citation.id})
  MERGE (r)-[:CITES {number: citation.number}]->(p)
}
RETURN r.id AS id
