// Remove passages and the triples they state; passages that had them as neighbours look for others.
// mode: write
// $ids: LIST<STRING> - passage ids
// -> entities: LIST<STRING> - entities that lost a mention, a title or a triple
// -> keywords: LIST<STRING> - keywords that lost a passage
MATCH (p:Kgrag:Passage) WHERE p.id IN $ids
CALL (p) {
  MATCH (p)<-[:SIMILAR]-(q:Passage)
  SET q.todo = coalesce(q.todo, []) + [stage IN ['similar'] WHERE NOT stage IN coalesce(q.todo, [])]
}
CALL (p) {
  MATCH (p)-[:ABOUT]->(e:Entity)
  SET e.todo = coalesce(e.todo, []) + [stage IN ['titles'] WHERE NOT stage IN coalesce(e.todo, [])]
}
WITH collect(p) AS passages,
     collect([(p)-[:MENTIONS|ABOUT]->(e:Entity) | e.id] + [(p)-[:STATES]->(:Triple)-[:SUBJECT|OBJECT]->(e:Entity) | e.id]) AS entities,
     collect([(p)-[:HAS_KEYWORD|NAMES]->(k:Keyword) | k.id]) AS keywords
CALL (passages) {
  UNWIND passages AS p
  OPTIONAL MATCH (p)-[:STATES]->(t:Triple)
  DETACH DELETE t, p
}
RETURN reduce(all = [], ids IN entities | all + ids) AS entities, reduce(all = [], ids IN keywords | all + ids) AS keywords
