// Triple beam search, a further step: the neighbours of each beam's last triple, which share its subject or object,
// with what the score of the longer beam takes. An entity of few triples gives them all; a hub, however large, gives
// those of the question's nearest triples that touch it.
// mode: read
// $beams: LIST<MAP> - {triples (ids in order), dot (sum of their cosines to the question), square (squared length of the sum of their vectors)}
// $index: STRING - the collection's vector index on triples
// $embedding: STRING - property that holds vectors
// $vector: LIST<FLOAT> - the question's vector
// $neighbours: INTEGER = 100 - neighbours of a beam that are scored: those nearest to the question
// $keep: INTEGER = 10 - neighbours of a beam that are returned: those that score best
// $hub: INTEGER = 100 - triples of an entity, above which it is a hub
// $hub_triples: INTEGER = 200 - the question's nearest triples, of which hubs give theirs
// -> neighbours: LIST<MAP> - {beam (its number from 0), id, text, passage, title, entity (the name shared), cosine (to the question), cross (sum of cosines to the beam's triples)}
// source: GEAR, section 4.2, Algorithm 1, lines 8 to 14
CALL () {
  UNWIND $beams AS beam
  MATCH (:Triple {id: beam.triples[-1]})-[:SUBJECT|OBJECT]->(e:Entity)
  WHERE COUNT { (e)<-[:SUBJECT|OBJECT]-() } > $hub
  WITH collect(DISTINCT e) AS hubs WHERE size(hubs) > 0
  CALL db.index.vector.queryNodes($index, $hub_triples, $vector) YIELD node AS t
  MATCH (t)-[:SUBJECT|OBJECT]->(e:Entity) WHERE e IN hubs
  RETURN collect({hub: e, triple: t}) AS near
}
UNWIND range(0, size($beams) - 1) AS number
WITH near, number, $beams[number] AS beam
WITH near, number, beam, COLLECT { UNWIND beam.triples AS id MATCH (x:Triple {id: id}) RETURN x[$embedding] } AS vectors
CALL (near, beam, vectors) {
  MATCH (:Triple {id: beam.triples[-1]})-[:SUBJECT|OBJECT]->(e:Entity)
  CALL (near, e) {
    WITH e WHERE COUNT { (e)<-[:SUBJECT|OBJECT]-() } <= $hub
    MATCH (e)<-[:SUBJECT|OBJECT]-(t:Triple)
    RETURN t
    UNION ALL
    UNWIND near AS n
    WITH n, e WHERE n.hub = e
    RETURN n.triple AS t
  }
  WITH beam, vectors, t, min(e.name) AS entity WHERE NOT any(b IN $beams WHERE t.id IN b.triples)
  WITH beam, vectors, t, entity, 2 * vector.similarity.cosine(t[$embedding], $vector) - 1 AS cosine
  ORDER BY cosine DESC, t.id LIMIT $neighbours
  WITH beam, t, entity, cosine, reduce(sum = 0.0, v IN vectors | sum + 2 * vector.similarity.cosine(t[$embedding], v) - 1) AS cross
  ORDER BY (beam.dot + cosine) / sqrt(beam.square + 1 + 2 * cross + 1e-9) DESC, t.id LIMIT $keep
  MATCH (p:Passage)-[:STATES]->(t)
  RETURN t, entity, cosine, cross, p
}
RETURN collect({beam: number, id: t.id, text: t.text, passage: p.id, title: p.name, entity: entity, cosine: cosine, cross: cross}) AS neighbours
