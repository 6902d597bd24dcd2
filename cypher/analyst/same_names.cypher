// title: Entities: names of one entity
// Groups of names that mean one entity by entity resolution (`kgrag enrich resolve`), the most mentioned first.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $sure: FLOAT = 0.0 - only groups all of whose ties have this score or more
// $limit: INTEGER = 25 - rows wanted
// -> names: LIST<STRING> - the names, the most mentioned first
// -> passages: INTEGER - mentions of all of them
// -> score: FLOAT - of the tie that is least sure
// -> evidence: LIST<STRING> - what speaks for the ties
// -> nodes: LIST<NODE> - the entities, to be drawn
MATCH (e:Entity {collection: $collection})-[s:SAME_AS]-(f:Entity)
WITH e, collect(f) + e AS members, collect(s) AS ties
WITH members, ties, reduce(first = e.id, m IN members | CASE WHEN m.id < first THEN m.id ELSE first END) AS first
UNWIND members AS m
UNWIND ties AS s
WITH first, m, s ORDER BY m.df DESC, m.name
WITH first, collect(DISTINCT m) AS members, collect(DISTINCT s) AS ties
WITH members, reduce(n = 0, m IN members | n + m.df) AS passages, ties, reduce(least = 1.0, s IN ties | CASE WHEN s.score < least THEN s.score ELSE least END) AS score
WHERE score >= $sure
RETURN [m IN members | m.name] AS names, passages, score, [s IN ties | s.evidence] AS evidence, members AS nodes
ORDER BY passages DESC, names LIMIT toInteger($limit)
