// Answers that people called good, with the passages that they cite: questions to measure on.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - id of the run
// -> question: STRING - the question
// -> answer: STRING - the answer
// -> gold: LIST<STRING> - ids of the cited passages
MATCH (r:Run {collection: $collection}) WHERE r.good AND r.found
RETURN r.id AS id, r.question AS question, r.answer AS answer,
       COLLECT { MATCH (r)-[:CITES]->(p:Passage) RETURN DISTINCT p.id ORDER BY p.id } AS gold
ORDER BY r.created, r.id
