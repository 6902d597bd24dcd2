// Beam search over a knowledge graph, a further step: the facts that share subject or object with some facts. An entity
// gives all that it is subject or object of, unless it is a hub in that direction, however large: then those of the facts
// nearest to the question by words. Nothing is scanned.
// mode: read
// $triples: LIST<STRING> - ids of the last facts of the chains
// $index: STRING - the full-text index over facts
// $query: STRING - the question as a Lucene query; empty: nothing of hubs
// $hub: INTEGER = 100 - facts of an entity in one direction, above which it is a hub there
// $hub_triples: INTEGER = 50 - the question's nearest facts by words; a hub gives only its facts among them
// -> ends: LIST<LIST<STRING>> - [id of a fact, id of its subject or object]
// -> entities: LIST<MAP> - {id, name, facts: [[id, text]]}
// source: GEAR, section 4.2, Algorithm 1, line 10; Millions of GEAR-s, section 4.1
UNWIND $triples AS id
MATCH (x:Kgrag:Triple {id: id})-[:SUBJECT|OBJECT]->(e:Entity)
WITH collect(DISTINCT [x.id, e.id]) AS ends, collect(DISTINCT e) AS entities
WITH ends, entities, [x IN entities WHERE COUNT { (x)<-[:SUBJECT]-() } > $hub OR COUNT { (x)<-[:OBJECT]-() } > $hub] AS hubs
CALL (entities, hubs) {
  UNWIND entities AS e
  WITH e WHERE COUNT { (e)<-[:SUBJECT]-() } <= $hub
  MATCH (e)<-[:SUBJECT]-(t:Triple)
  RETURN e, t
  UNION
  UNWIND entities AS e
  WITH e WHERE COUNT { (e)<-[:OBJECT]-() } <= $hub
  MATCH (e)<-[:OBJECT]-(t:Triple)
  RETURN e, t
  UNION
  WITH hubs WHERE size(hubs) > 0 AND $query <> ''
  CALL db.index.fulltext.queryNodes($index, $query, {limit: $hub_triples + 1}) YIELD node, score
  WITH hubs, collect({node: node, score: score}) AS top
  CALL (hubs, top) {
    WITH * WHERE size(top) > $hub_triples AND top[-1].score = top[-2].score
    CALL db.index.fulltext.queryNodes($index, $query, {limit: 1000 * ($hub_triples / 1000 + 1)}) YIELD node, score WHERE score >= top[-1].score
    WITH node, score ORDER BY score DESC, node.id LIMIT $hub_triples
    RETURN collect({node: node, score: score}) AS tied
  }
  UNWIND CASE WHEN size(tied) > 0 THEN tied ELSE top[..$hub_triples] END AS hit
  WITH hubs, hit.node AS t
  MATCH (t)-[:SUBJECT|OBJECT]->(e) WHERE e IN hubs
  RETURN e, t
}
WITH ends, e, t ORDER BY t.id
WITH ends, e, collect([t.id, t.text]) AS facts ORDER BY e.id
RETURN ends, collect({id: e.id, name: e.name, facts: facts}) AS entities
