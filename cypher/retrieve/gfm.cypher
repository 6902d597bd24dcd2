// GFM-RAG, local: what surrounds the question's entities. The entities that triples or resembling names lead to within some
// hops, those first that fewest hops and fewest branches lead to, and the triples and resembling names among them. Entities
// with many triples lead nowhere. Nodes are element ids, which are short.
// mode: read
// $entities: LIST<STRING> - the question's entities
// $hops: INTEGER = 2 - triples or resembling names that lead away from them one after the other, 1 to 3
// $cap: INTEGER = 50 - triples that an entity may have to lead on
// $most: INTEGER = 1000 - entities in all
// $same_as: BOOLEAN = false - whether the names of one entity are tied
// -> nodes: LIST<STRING> - the entities
// -> triples: LIST<LIST<STRING>> - [subject, predicate, object]; one of the ends may be none of the entities
// -> similar: LIST<LIST<ANY>> - [entity, entity, score] of resembling names; of names of one entity the score is 1
CALL () {
  UNWIND $entities AS id
  MATCH (e:Entity) WHERE elementId(e) = id
  RETURN collect({node: e, share: 1.0, hop: 0}) AS seeds
}
CALL (seeds) {
  UNWIND seeds AS from
  WITH from.node AS e, from.share AS weight
  CALL (e) {
    WITH e, COUNT { (e)<-[:SUBJECT|OBJECT]-() } AS degree WHERE 0 < degree <= $cap
    MATCH (e)<-[:SUBJECT|OBJECT]-(:Triple)-[:SUBJECT|OBJECT]->(f:Entity)
    RETURN f, 1.0 / degree AS share
    UNION ALL
    WITH COLLECT { MATCH (e)-[s:SIMILAR|SAME_AS]-(f:Entity) RETURN [type(s), f] } AS alike // read once: a writer may remove them
    UNWIND alike AS one
    WITH one[1] AS f, alike WHERE $same_as OR one[0] = 'SIMILAR'
    RETURN f, 1.0 / size(alike) AS share
  }
  WITH f, sum(weight * share) AS share ORDER BY share DESC, f.id LIMIT $most
  RETURN collect({node: f, share: share, hop: 1}) AS first
}
CALL (first) {
  UNWIND first AS from
  WITH from.node AS e, from.share AS weight WHERE $hops >= 2
  CALL (e) {
    WITH e, COUNT { (e)<-[:SUBJECT|OBJECT]-() } AS degree WHERE 0 < degree <= $cap
    MATCH (e)<-[:SUBJECT|OBJECT]-(:Triple)-[:SUBJECT|OBJECT]->(f:Entity)
    RETURN f, 1.0 / degree AS share
    UNION ALL
    WITH COLLECT { MATCH (e)-[s:SIMILAR|SAME_AS]-(f:Entity) RETURN [type(s), f] } AS alike // read once: a writer may remove them
    UNWIND alike AS one
    WITH one[1] AS f, alike WHERE $same_as OR one[0] = 'SIMILAR'
    RETURN f, 1.0 / size(alike) AS share
  }
  WITH f, sum(weight * share) AS share ORDER BY share DESC, f.id LIMIT $most
  RETURN collect({node: f, share: share, hop: 2}) AS second
}
CALL (second) {
  UNWIND second AS from
  WITH from.node AS e, from.share AS weight WHERE $hops >= 3
  CALL (e) {
    WITH e, COUNT { (e)<-[:SUBJECT|OBJECT]-() } AS degree WHERE 0 < degree <= $cap
    MATCH (e)<-[:SUBJECT|OBJECT]-(:Triple)-[:SUBJECT|OBJECT]->(f:Entity)
    RETURN f, 1.0 / degree AS share
    UNION ALL
    WITH COLLECT { MATCH (e)-[s:SIMILAR|SAME_AS]-(f:Entity) RETURN [type(s), f] } AS alike // read once: a writer may remove them
    UNWIND alike AS one
    WITH one[1] AS f, alike WHERE $same_as OR one[0] = 'SIMILAR'
    RETURN f, 1.0 / size(alike) AS share
  }
  WITH f, sum(weight * share) AS share ORDER BY share DESC, f.id LIMIT $most
  RETURN collect({node: f, share: share, hop: 3}) AS third
}
CALL (seeds, first, second, third) {
  UNWIND seeds + first + second + third AS x
  WITH x.node AS e, min(x.hop) AS hop, sum(x.share) AS share ORDER BY hop, share DESC, e.id LIMIT $most
  RETURN collect(e) AS nodes
}
CALL (nodes) {
  UNWIND nodes AS e
  CALL (e) {
    WITH e WHERE COUNT { (e)<-[:SUBJECT|OBJECT]-() } <= $cap
    MATCH (e)<-[:SUBJECT]-(t:Triple)-[:OBJECT]->(f)
    RETURN e AS s, t.predicate AS predicate, f AS o
    UNION
    WITH e WHERE COUNT { (e)<-[:SUBJECT|OBJECT]-() } <= $cap
    MATCH (e)<-[:OBJECT]-(t:Triple)-[:SUBJECT]->(f)
    RETURN f AS s, t.predicate AS predicate, e AS o
  }
  WITH DISTINCT s, predicate, o
  RETURN collect([elementId(s), predicate, elementId(o)]) AS triples
}
CALL (nodes) {
  UNWIND nodes AS e
  MATCH (e)-[s:SIMILAR|SAME_AS]->(f:Entity) WHERE $same_as OR type(s) = 'SIMILAR'
  RETURN collect([elementId(e), elementId(f), CASE type(s) WHEN 'SAME_AS' THEN 1.0 ELSE s.score END]) AS similar
}
RETURN [e IN nodes | elementId(e)] AS nodes, triples, similar
