// title: Triples: their predicates
// The predicates of a collection's triples, the most frequent first, each with an example.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $limit: INTEGER = 25 - rows wanted
// -> predicate: STRING - predicate
// -> triples: INTEGER - triples that have it
// -> example: STRING - one of them
MATCH (t:Triple {collection: $collection})
WITH t.predicate AS predicate, count(*) AS triples, head(collect(t)) AS example
ORDER BY triples DESC, predicate LIMIT toInteger($limit)
RETURN predicate, triples, example.text AS example
