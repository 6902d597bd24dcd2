// Triple beam search, a further step: the neighbours of each beam's last triple, which share its subject or object,
// with the values for the score of the longer beam. An entity gives its triples nearest to the question, searched once
// for all beams; a hub of any size gives only its triples among the question's nearest ones.
// mode: read
// $beams: LIST<MAP> - {triples (ids in order), dot (sum of their cosines to the question), square (squared length of the sum of their vectors)}
// $index: STRING - the collection's vector index on triples
// $embedding: STRING - property that holds vectors
// $vector: LIST<FLOAT> - the question's vector
// $neighbours: INTEGER = 100 - neighbours of a beam to score, the nearest to the question
// $keep: INTEGER = 10 - best neighbours of a beam that are returned
// $hub: INTEGER = 100 - triples of an entity, above which it is a hub
// $hub_triples: INTEGER = 50 - the question's nearest triples; a hub gives only its triples among them
// $candidates: INTEGER = 400 - over-fetch of the vector index
// $same_as: BOOLEAN = true - whether triples are neighbours that name the same entity in another way
// -> neighbours: LIST<MAP> - {beam (its number from 0), id, text, passage, title, entity (the name shared), cosine (to the question), cross (sum of cosines to the beam's triples)}
// source: GEAR, section 4.2, Algorithm 1, lines 8 to 14
CALL () {
  UNWIND $beams AS beam
  MATCH (:Kgrag:Triple {id: beam.triples[-1]})-[:SUBJECT|OBJECT]->(:Entity)-[same:SAME_AS*0..1]-(e:Entity)
  WHERE $same_as OR size(same) = 0
  WITH DISTINCT e
  RETURN collect(e) AS ends, reduce(ids = [], b IN $beams | ids + b.triples) AS taken
}
CALL (ends) {
  WITH [e IN ends WHERE COUNT { (e)<-[:SUBJECT|OBJECT]-() } > $hub] AS hubs WHERE size(hubs) > 0
  CALL db.index.vector.queryNodes($index, $candidates, $vector) YIELD node AS t
  WITH hubs, t, 2 * vector.similarity.cosine(t[$embedding], $vector) - 1 AS cosine ORDER BY cosine DESC, t.id LIMIT $hub_triples
  MATCH (t)-[:SUBJECT|OBJECT]->(e:Entity) WHERE e IN hubs
  WITH DISTINCT e, t, cosine
  WITH e, collect({triple: t, cosine: cosine}) AS triples
  RETURN collect({entity: e, triples: triples}) AS of_hubs
}
CALL (ends, taken) {
  UNWIND ends AS e
  WITH e, taken WHERE COUNT { (e)<-[:SUBJECT|OBJECT]-() } <= $hub
  CALL (e, taken) {
    MATCH (e)<-[:SUBJECT|OBJECT]-(t:Triple)
    WITH DISTINCT t, taken WHERE NOT t.id IN taken AND t[$embedding] IS NOT NULL
    WITH t, 2 * vector.similarity.cosine(t[$embedding], $vector) - 1 AS cosine
    ORDER BY cosine DESC, t.id LIMIT $neighbours
    RETURN collect({triple: t, cosine: cosine}) AS triples
  }
  RETURN collect({entity: e, triples: triples}) AS of_others
}
UNWIND range(0, size($beams) - 1) AS number
WITH of_hubs + of_others AS near, taken, number, $beams[number] AS beam
WITH near, taken, number, beam, COLLECT { UNWIND beam.triples AS id MATCH (x:Kgrag:Triple {id: id}) RETURN x[$embedding] } AS vectors
CALL (near, beam, taken, vectors) {
  MATCH (:Kgrag:Triple {id: beam.triples[-1]})-[:SUBJECT|OBJECT]->(:Entity)-[same:SAME_AS*0..1]-(e:Entity)
  WHERE $same_as OR size(same) = 0
  UNWIND head([n IN near WHERE n.entity = e | n.triples]) AS top
  WITH top.triple AS t, top.cosine AS cosine, min(e.name) AS entity WHERE NOT t.id IN taken
  WITH t, cosine, entity ORDER BY cosine DESC, t.id LIMIT $neighbours
  WITH t, entity, cosine, reduce(sum = 0.0, v IN vectors | sum + 2 * vector.similarity.cosine(t[$embedding], v) - 1) AS cross
  ORDER BY (beam.dot + cosine) / sqrt(beam.square + 1 + 2 * cross + 1e-9) DESC, t.id LIMIT $keep
  MATCH (p:Passage)-[:STATES]->(t)
  RETURN t, entity, cosine, cross, p
}
RETURN collect({beam: number, id: t.id, text: t.text, passage: p.id, title: p.name, entity: entity, cosine: cosine, cross: cross}) AS neighbours
