// title: Runs: answers that were kept
// The kept questions and answers, newest first.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $limit: INTEGER = 25 - rows wanted
// -> run: STRING - id; its beginning names it
// -> created: DATETIME - when
// -> question: STRING - the question
// -> answer: STRING - the answer
// -> system: STRING - who answered
// -> steps: INTEGER - steps that it took
// -> cites: LIST<STRING> - titles of the passages that it cites
// -> seconds: FLOAT - how long it took
// -> tokens: INTEGER - tokens of the language model
MATCH (r:Run {collection: $collection})
WITH r ORDER BY r.created DESC, r.id LIMIT toInteger($limit)
RETURN r.id AS run, r.created AS created, r.name AS question, r.answer AS answer, r.system AS system,
       COUNT { (r)-[:HAS_STEP]->() } AS steps,
       COLLECT { MATCH (r)-[cites:CITES]->(p:Passage) RETURN p.name ORDER BY cites.number } AS cites,
       round(r.seconds, 1) AS seconds, r.tokens AS tokens
ORDER BY created DESC, run
