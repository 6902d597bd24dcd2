// Facts of a knowledge graph whose subject or object has one of some names. A hub with very many facts gives only the
// facts that share most words with the question.
// mode: read
// $collection: STRING - name of the collection of kind knowledge
// $index: STRING - the full-text index over its facts
// $query: STRING - the question as a Lucene query; empty: nothing of hubs
// $names: LIST<STRING> - names in stems
// $entities: INTEGER = 20 - entities at most
// $hub: INTEGER = 100 - facts of an entity in one direction, above which it is a hub there
// $hub_triples: INTEGER = 50 - the question's nearest facts by words; a hub gives only its facts among them
// -> facts: LIST<MAP> - {id, text, entity (its name)}, ties by id
MATCH (e:Entity) WHERE e.collection = $collection AND e.stemmed IN $names
WITH e ORDER BY COUNT { (e)<-[:SUBJECT]-() } DESC, e.id LIMIT $entities
WITH collect(e) AS entities
CALL (entities) {
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
  WITH entities, [x IN entities WHERE COUNT { (x)<-[:SUBJECT]-() } > $hub OR COUNT { (x)<-[:OBJECT]-() } > $hub] AS hubs
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
WITH t, min(e.name) AS entity ORDER BY t.id
RETURN collect(t {.id, .text, entity: entity}) AS facts
