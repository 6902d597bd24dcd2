// title: Entity: PageRank around it
// The passages that matter most around an entity: a random walker steps from a passage to a name that it mentions, rare
// names being the likelier, from there to a passage that mentions it, too, and starts again at the entity's passages.
// Plain Cypher: ten rounds of the power method, which is exact to $damping ^ 10, over its $neighbourhood nearest passages.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $entity: STRING = 'Roald Amundsen' - name of the entity
// $damping: FLOAT = 0.5 - how likely the walker goes on
// $cap: INTEGER = 50 - passages that a name may have to lead on
// $neighbourhood: INTEGER = 100 - passages that take part
// $limit: INTEGER = 25 - rows wanted
// -> rank: FLOAT - share of the walker's time
// -> title: STRING - title of the passage
// -> seed: BOOLEAN - whether it is the entity's own, or mentions it
// -> text: STRING - the passage
// -> passage: NODE - the same, to be drawn
// source: HippoRAG 2, section 3.3
MATCH (c:Collection {name: $collection})
CALL db.index.fulltext.queryNodes('entity_name_c' + c.number, '"' + replace($entity, '"', ' ') + '"', {limit: 20}) YIELD node AS e, score
WITH e ORDER BY toLower(e.name) = toLower($entity) DESC, score DESC, e.df DESC LIMIT 1
CALL (e) {
  MATCH (e)<-[:ABOUT]-(:Document)-[:HAS_PASSAGE]->(p:Passage) WHERE p.ordinal < 5 RETURN p
  UNION
  MATCH (e)<-[:MENTIONS]-(p:Passage) RETURN p
}
WITH p WHERE EXISTS { (p)-[:MENTIONS]->(n:Entity) WHERE n.df > 1 AND n.df <= $cap }
WITH p LIMIT toInteger($neighbourhood / 2)
WITH collect(p) AS seeds
CALL (seeds) {
  UNWIND seeds AS p
  MATCH (p)-[:MENTIONS]->(n:Entity) WHERE n.df > 1 AND n.df <= $cap
  WITH n, count(*) / toFloat(n.df) AS share
  MATCH (n)<-[:MENTIONS]-(q:Passage) WHERE NOT q IN seeds
  WITH q, sum(share) AS shares ORDER BY shares DESC, q.id LIMIT toInteger($neighbourhood)
  RETURN collect(q) AS others
}
WITH size(seeds) AS seeded, (seeds + others)[..toInteger($neighbourhood)] AS passages
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
  RETURN collect({from: from, to: way.to, share: way.weight / total}) AS ties
}
CALL (passages, seeded) {
  UNWIND range(0, size(passages) - 1) AS i
  RETURN collect(CASE WHEN i < seeded THEN 1.0 / seeded ELSE 0.0 END) AS r0
}
CALL (ties, seeded, r0) {
  UNWIND ties AS t
  WITH seeded, t.to AS i, sum(r0[t.from] * t.share) AS flow ORDER BY i
  RETURN collect($damping * flow + CASE WHEN i < seeded THEN (1 - $damping) / seeded ELSE 0.0 END) AS r1
}
CALL (ties, seeded, r1) {
  UNWIND ties AS t
  WITH seeded, t.to AS i, sum(r1[t.from] * t.share) AS flow ORDER BY i
  RETURN collect($damping * flow + CASE WHEN i < seeded THEN (1 - $damping) / seeded ELSE 0.0 END) AS r2
}
CALL (ties, seeded, r2) {
  UNWIND ties AS t
  WITH seeded, t.to AS i, sum(r2[t.from] * t.share) AS flow ORDER BY i
  RETURN collect($damping * flow + CASE WHEN i < seeded THEN (1 - $damping) / seeded ELSE 0.0 END) AS r3
}
CALL (ties, seeded, r3) {
  UNWIND ties AS t
  WITH seeded, t.to AS i, sum(r3[t.from] * t.share) AS flow ORDER BY i
  RETURN collect($damping * flow + CASE WHEN i < seeded THEN (1 - $damping) / seeded ELSE 0.0 END) AS r4
}
CALL (ties, seeded, r4) {
  UNWIND ties AS t
  WITH seeded, t.to AS i, sum(r4[t.from] * t.share) AS flow ORDER BY i
  RETURN collect($damping * flow + CASE WHEN i < seeded THEN (1 - $damping) / seeded ELSE 0.0 END) AS r5
}
CALL (ties, seeded, r5) {
  UNWIND ties AS t
  WITH seeded, t.to AS i, sum(r5[t.from] * t.share) AS flow ORDER BY i
  RETURN collect($damping * flow + CASE WHEN i < seeded THEN (1 - $damping) / seeded ELSE 0.0 END) AS r6
}
CALL (ties, seeded, r6) {
  UNWIND ties AS t
  WITH seeded, t.to AS i, sum(r6[t.from] * t.share) AS flow ORDER BY i
  RETURN collect($damping * flow + CASE WHEN i < seeded THEN (1 - $damping) / seeded ELSE 0.0 END) AS r7
}
CALL (ties, seeded, r7) {
  UNWIND ties AS t
  WITH seeded, t.to AS i, sum(r7[t.from] * t.share) AS flow ORDER BY i
  RETURN collect($damping * flow + CASE WHEN i < seeded THEN (1 - $damping) / seeded ELSE 0.0 END) AS r8
}
CALL (ties, seeded, r8) {
  UNWIND ties AS t
  WITH seeded, t.to AS i, sum(r8[t.from] * t.share) AS flow ORDER BY i
  RETURN collect($damping * flow + CASE WHEN i < seeded THEN (1 - $damping) / seeded ELSE 0.0 END) AS r9
}
CALL (ties, seeded, r9) {
  UNWIND ties AS t
  WITH seeded, t.to AS i, sum(r9[t.from] * t.share) AS flow ORDER BY i
  RETURN collect($damping * flow + CASE WHEN i < seeded THEN (1 - $damping) / seeded ELSE 0.0 END) AS r10
}
UNWIND range(0, size(passages) - 1) AS i
WITH passages[i] AS p, r10[i] AS rank, i < seeded AS seed ORDER BY rank DESC, p.id LIMIT toInteger($limit)
RETURN round(rank, 4) AS rank, p.name AS title, seed, p.text AS text, p AS passage ORDER BY rank DESC, title
