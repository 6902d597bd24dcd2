// Names that two facts tie to each other by way of a third one, all short: for questions that lead over two steps. Only
// the first facts of a collection are looked at, and no name of many facts in the middle.
// mode: read
// $collection: STRING - name of the collection
// $reach: INTEGER - facts that are looked at
// $cap: INTEGER - facts that the name in the middle may begin
// $longest: INTEGER - characters of a name
// $limit: INTEGER - rows wanted
// -> one: STRING - name of the first entity
// -> via: STRING - name of the one in the middle
// -> other: STRING - name of the last one
MATCH (t:Triple {collection: $collection})
WITH t LIMIT $reach
MATCH (a:Entity)<-[:SUBJECT]-(t)-[:OBJECT]->(b:Entity)
WHERE a <> b AND size(t.predicate) <= $longest AND COUNT { (b)<-[:SUBJECT]-() } <= $cap
MATCH (b)<-[:SUBJECT]-(u:Triple)-[:OBJECT]->(c:Entity)
WHERE c <> a AND c <> b AND size(u.predicate) <= $longest
  AND all(e IN [a, b, c] WHERE size(e.name) <= $longest AND e.name =~ '[\\p{Lu}\\p{Lo}].*')
WITH DISTINCT a, b, c
ORDER BY a.df + b.df + c.df DESC, a.name, b.name, c.name LIMIT $limit
RETURN a.name AS one, b.name AS via, c.name AS other
