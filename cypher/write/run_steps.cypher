// Attach the steps of a run in order, each with its retrieved passages and the triples linked to its facts.
// mode: write
// $run: STRING - run id
// $rows: LIST<MAP> - {id, previous (id of a step, or null), properties, passages: [{id, query, rank, score}], triples: [{id, fact, score}]}
MATCH (r:Kgrag:Run {id: $run})
UNWIND $rows AS row
MERGE (s:Kgrag:Step {id: row.id})
SET s += row.properties, s.collection = r.collection
MERGE (r)-[:HAS_STEP]->(s)
WITH s, row
CALL (s, row) {
  MATCH (before:Kgrag:Step {id: row.previous})
  MERGE (before)-[:NEXT]->(s)
}
CALL (s, row) {
  UNWIND row.passages AS hit
  MATCH (p:Kgrag:Passage {id: hit.id})
  MERGE (s)-[e:RETRIEVED {query: hit.query}]->(p)
  SET e.rank = hit.rank, e.score = hit.score
}
CALL (s, row) {
  UNWIND row.triples AS link
  MATCH (t:Kgrag:Triple {id: link.id})
  MERGE (s)-[:LINKED {fact: link.fact, score: link.score}]->(t)
}
