// Types and predicates that a language model read beyond a collection's schema of facts, the most frequent first.
// mode: read
// $collection: STRING - name of the collection
// $limit: INTEGER = 5 - rows wanted
// -> fact: STRING - (Type)-[predicate]->(Type)
// -> number: INTEGER - how often
// -> total: INTEGER - how often anything was outside
MATCH (p:Passage {collection: $collection}) WHERE p.outside IS NOT NULL
UNWIND p.outside AS fact
WITH fact, count(*) AS number
WITH collect({fact: fact, number: number}) AS facts, sum(number) AS total
UNWIND facts AS row
RETURN row.fact AS fact, row.number AS number, total ORDER BY number DESC, fact LIMIT $limit
