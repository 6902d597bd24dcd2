// title: Entity: a walk of three hops
// Breadth-first search of three hops. The first hop finds the passages that mention an entity or have it as their title.
// Each further hop finds new passages that share rare names with the last ones. Skips names in more than $cap passages.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $entity: STRING = 'Roald Amundsen' - name of the entity
// $cap: INTEGER = 50 - passages that a name may have to lead on
// $width: INTEGER = 20 - passages of each hop
// -> hop: INTEGER - 1 to 3
// -> title: STRING - title of the passage that was reached
// -> via: STRING - the rarest name that led there
// -> before: STRING - title of the passage that it came from, null in the first hop
// -> path: PATH - the way of this hop, to be drawn
// source: after KGP, section 4, without a question that guides it; Algorithm 1 is the retriever kgp
MATCH (c:Kgrag:Collection {id: $collection})
CALL db.index.fulltext.queryNodes('entity_name_c' + c.number, '"' + replace($entity, '"', ' ') + '"', {limit: 20}) YIELD node AS e, score
WITH e ORDER BY toLower(e.name) = toLower($entity) DESC, score DESC, e.df DESC LIMIT 1
CALL (e) {
  CALL (e) {
    MATCH (e)<-[:ABOUT]-(:Document)-[:HAS_PASSAGE]->(p:Passage) WHERE p.ordinal < 5 RETURN p
    UNION
    MATCH (e)<-[:MENTIONS]-(p:Passage) RETURN p
  }
  WITH p LIMIT toInteger($width)
  RETURN collect(p) AS first
}
CALL (first) {
  UNWIND first AS p
  MATCH (p)-[:MENTIONS]->(n:Entity) WHERE n.df > 1 AND n.df <= $cap
  MATCH (n)<-[:MENTIONS]-(q:Passage) WHERE NOT q IN first
  WITH p, n, q ORDER BY n.df, n.id, p.id
  WITH q, sum(1.0 / n.df) AS weight, head(collect(p)) AS p, head(collect(n)) AS n
  ORDER BY weight DESC, q.id LIMIT toInteger($width)
  RETURN collect(q) AS second, collect(p) AS before_second, collect(n) AS to_second
}
CALL (first, second) {
  UNWIND second AS p
  MATCH (p)-[:MENTIONS]->(n:Entity) WHERE n.df > 1 AND n.df <= $cap
  MATCH (n)<-[:MENTIONS]-(q:Passage) WHERE NOT q IN first AND NOT q IN second
  WITH p, n, q ORDER BY n.df, n.id, p.id
  WITH q, sum(1.0 / n.df) AS weight, head(collect(p)) AS p, head(collect(n)) AS n
  ORDER BY weight DESC, q.id LIMIT toInteger($width)
  RETURN collect(q) AS third, collect(p) AS before_third, collect(n) AS to_third
}
CALL (e, first, second, before_second, to_second, third, before_third, to_third) {
  UNWIND first AS q
  CALL (e, q) {
    MATCH path = (e)<-[:ABOUT]-(:Document)-[:HAS_PASSAGE]->(q) RETURN path
    UNION ALL
    MATCH path = (e)<-[:MENTIONS]-(q) RETURN path
  }
  RETURN 1 AS hop, q, e AS n, null AS before, head(collect(path)) AS path
  UNION ALL
  UNWIND [[2, before_second, to_second, second], [3, before_third, to_third, third]] AS one
  UNWIND range(0, size(one[3]) - 1) AS i
  WITH one[0] AS hop, one[1][i] AS p, one[2][i] AS n, one[3][i] AS q
  MATCH path = (p)-[:MENTIONS]->(n)<-[:MENTIONS]-(q)
  RETURN hop, q, n, p.name AS before, path
}
RETURN hop, q.name AS title, n.name AS via, before, path ORDER BY hop, title
