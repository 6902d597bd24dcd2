// Personalised PageRank, local: what surrounds the seeds. The passages of the seed entities and of the entities that a
// triple or a resembling name ties to them; the passages nearest to the question; then those that share the most names
// with all of these. Hubs lead nowhere. Nodes are internal numbers, which are short.
// mode: read
// $entities: LIST<STRING> - seed entities
// $passages: LIST<STRING> - seed passages
// $cap: INTEGER = 50 - passages or triples that an entity may have to lead on
// $titled: INTEGER = 5 - passages of a document that its title reaches
// $most: INTEGER = 150 - passages that share names with those before
// -> seeds: LIST<LIST<ANY>> - [id, number, passages that mention it] of the seed entities
// -> passages: LIST<LIST<ANY>> - [id, number, mentioned entities, entities of its titles, ends of its triples (subject, object, subject, ...)]
// -> similar: LIST<LIST<ANY>> - [entity, entity, score] of resembling names
CALL () {
  UNWIND $entities AS id
  MATCH (e:Entity {id: id})
  RETURN collect(e) AS seeds
}
CALL (seeds) {
  UNWIND seeds AS e
  CALL (e) {
    WITH e WHERE COUNT { (e)<-[:SUBJECT|OBJECT]-() } <= $cap
    MATCH (e)<-[:SUBJECT|OBJECT]-(:Triple)-[:SUBJECT|OBJECT]->(f:Entity)
    RETURN f
    UNION
    MATCH (e)-[:SIMILAR]-(f:Entity)
    RETURN f
    UNION
    RETURN e AS f
  }
  RETURN collect(DISTINCT f) AS near
}
CALL (near) {
  UNWIND near AS e
  CALL (e) {
    MATCH (e)<-[:MENTIONS]-(p:Passage) WHERE e.df <= $cap
    RETURN p
    UNION
    MATCH (e)<-[:ABOUT]-(d:Document)-[:HAS_PASSAGE]->(p:Passage) WHERE e.ntit <= $cap AND p.ordinal < $titled
    RETURN p
    UNION
    MATCH (e)<-[:ABOUT]-(p:Passage) WHERE e.ntit <= $cap
    RETURN p
  }
  RETURN p
  UNION
  UNWIND $passages AS id
  MATCH (p:Passage {id: id})
  RETURN p
}
WITH seeds, collect(p) AS first
CALL (first) {
  UNWIND first AS p
  MATCH (p)-[:MENTIONS]->(e:Entity) WHERE e.df <= $cap AND e.ntit <= $cap AND (e.df > 1 OR e.ntit > 0)
  WITH e, count(*) * 1.0 / (e.df + e.ntit) AS share
  CALL (e) {
    MATCH (e)<-[:MENTIONS]-(x:Passage)
    RETURN x
    UNION ALL
    MATCH (e)<-[:ABOUT]-(d:Document)-[:HAS_PASSAGE]->(x:Passage) WHERE x.ordinal < $titled
    RETURN x
    UNION ALL
    MATCH (e)<-[:ABOUT]-(x:Passage)
    RETURN x
  }
  WITH x, sum(share) AS shares ORDER BY shares DESC, x.id LIMIT $most
  RETURN collect(x) AS further
}
CALL (first, further) {
  UNWIND first + further AS p
  WITH DISTINCT p
  MATCH (d:Document)-[:HAS_PASSAGE]->(p)
  RETURN collect([p.id, id(p), [(p)-[:MENTIONS]->(e) | id(e)], [(d)-[:ABOUT]->(e) | id(e)] + [(p)-[:ABOUT]->(e) | id(e)],
                  reduce(ends = [], pair IN [(s)<-[:SUBJECT]-(t:Triple)<-[:STATES]-(p) | [id(s), head([(t)-[:OBJECT]->(o) | id(o)])]] | ends + pair)]) AS passages
}
CALL (first) {
  UNWIND first AS p
  MATCH (p)-[:MENTIONS]->(e:Entity)
  WITH DISTINCT e
  MATCH (e)-[s:SIMILAR]->(f:Entity)
  RETURN collect([id(e), id(f), s.score]) AS similar
}
RETURN [e IN seeds | [e.id, id(e), e.df]] AS seeds, passages, similar
