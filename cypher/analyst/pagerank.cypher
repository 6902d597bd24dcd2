// title: Entity: PageRank around it
// The most central passages around an entity: a random walk from a passage to a name that it mentions, preferably a rare
// one, and on to another passage with that name; it restarts at the passages of the entity.
// Plain Cypher: ten rounds of the power method, which is exact to $damping ^ 10, over its $neighbourhood nearest passages.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $entity: STRING = 'Roald Amundsen' - name of the entity
// $damping: FLOAT = 0.5 - probability that the walk continues
// $cap: INTEGER = 50 - passages that a name may have to lead on
// $neighbourhood: INTEGER = 100 - passages that take part
// $limit: INTEGER = 25 - rows wanted
// -> rank: FLOAT - share of the visits of the walk
// -> title: STRING - title of the passage
// -> seed: BOOLEAN - whether it is the entity's own, or mentions it
// -> text: STRING - the passage
// -> path: PATH - from the entity to its passage; of another from the seed over the rarest name, to be drawn
// source: HippoRAG 2, section 3.3
MATCH (c:Kgrag:Collection {id: $collection})
CALL db.index.fulltext.queryNodes('entity_name_c' + c.number, '"' + replace($entity, '"', ' ') + '"', {limit: 20}) YIELD node AS e, score
WITH e ORDER BY toLower(e.name) = toLower($entity) DESC, score DESC, e.df DESC LIMIT 1
CALL (e) {
  MATCH (e)<-[:ABOUT]-(:Document)-[:HAS_PASSAGE]->(p:Passage) WHERE p.ordinal < 5 RETURN p
  UNION
  MATCH (e)<-[:MENTIONS]-(p:Passage) RETURN p
}
WITH e, p WHERE EXISTS { (p)-[:MENTIONS]->(n:Entity) WHERE n.df > 1 AND n.df <= $cap }
WITH e, p ORDER BY p.id LIMIT toInteger($neighbourhood / 2)
WITH e, collect(p) AS seeds
CALL (seeds) {
  UNWIND seeds AS p
  MATCH (p)-[:MENTIONS]->(n:Entity) WHERE n.df > 1 AND n.df <= $cap
  WITH n, count(*) / toFloat(n.df) AS share
  MATCH (n)<-[:MENTIONS]-(q:Passage) WHERE NOT q IN seeds
  WITH q, sum(share) AS shares ORDER BY shares DESC, q.id LIMIT toInteger($neighbourhood)
  RETURN collect(q) AS others
}
WITH e, seeds, (seeds + others)[..toInteger($neighbourhood)] AS passages
CALL (passages) {
  UNWIND range(0, size(passages) - 1) AS i
  WITH i, passages[i] AS p
  MATCH (p)-[:MENTIONS]->(n:Entity) WHERE n.df > 1 AND n.df <= $cap
  WITH n, collect(i) AS members
  UNWIND members AS from
  UNWIND members AS to
  WITH from, to, sum(1.0 / n.df) AS weight
  WITH from, sum(weight) AS total, collect({to: to, weight: weight}) AS ways
  UNWIND ways AS way
  WITH way.to AS to, collect([from, way.weight / total]) AS ties ORDER BY to
  RETURN collect(ties) AS into
}
WITH e, seeds, passages, into, [i IN range(0, size(passages) - 1) | CASE WHEN i < size(seeds) THEN 1.0 / size(seeds) ELSE 0.0 END] AS start
WITH e, seeds, passages, reduce(r = start, round IN range(1, 10) | [i IN range(0, size(passages) - 1) |
  (1 - $damping) * start[i] + $damping * reduce(flow = 0.0, tie IN into[i] | flow + r[tie[0]] * tie[1])]) AS ranks
UNWIND range(0, size(passages) - 1) AS i
WITH e, seeds, passages[i] AS p, ranks[i] AS rank, i < size(seeds) AS seed ORDER BY rank DESC, p.id LIMIT toInteger($limit)
CALL (e, seeds, p, seed) {
  MATCH path = (e)<-[:MENTIONS]-(p) RETURN path
  UNION ALL
  MATCH path = (e)<-[:ABOUT]-(:Document)-[:HAS_PASSAGE]->(p) WHERE NOT EXISTS { (e)<-[:MENTIONS]-(p) } RETURN path
  UNION ALL
  MATCH path = (s:Passage)-[:MENTIONS]->(n:Entity)<-[:MENTIONS]-(p) WHERE NOT seed AND s IN seeds AND n.df <= $cap
  RETURN path ORDER BY n.df, s.id LIMIT 1
}
RETURN round(rank, 4) AS rank, p.name AS title, seed, p.text AS text, path ORDER BY rank DESC, title
