// PathRank, at the end: the names that connect passages, with these passages; and the values that are compared with the
// outermost clause of the question.
// mode: read
// $ids: LIST<STRING> - passage ids
// $links: LIST<STRING> - entities that the question names
// $cap: INTEGER = 50 - passages that a name may have, unless it is a title
// $embedding: STRING - property that holds vectors
// $clause: LIST<FLOAT> = [] - vector of the outermost clause; empty: not wanted
// $same_as: BOOLEAN = true - whether the names of one entity connect passages as one
// -> names: LIST<LIST<ANY>> - [passage id, its name, its title, its cosine with the clause or null, its sentences in stems or null, whether the names in it are still to be found, numbers of the names that it mentions, [number, weight] of those that its title or headings bear]
// -> linked: LIST<LIST<ANY>> - [number, entity id] of $links
// -> same: LIST<LIST<ANY>> - [number, an id shared by the names of one entity] for entities with several names
UNWIND $ids AS id
MATCH (d:Document)-[:HAS_PASSAGE]->(x:Kgrag:Passage {id: id})
WITH collect([x.id, x.name, x.title,
       CASE WHEN size($clause) > 0 THEN 2 * vector.similarity.cosine(x[$embedding], $clause) - 1 END,
       CASE WHEN size($clause) > 0 THEN x.sentences END, coalesce('mentions' IN x.todo, false),
       [(x)-[:MENTIONS]->(e:Entity) WHERE (e.df > 1 AND e.df <= $cap) OR e.ntit > 0 OR ($same_as AND e.df <= $cap AND EXISTS { (e)-[:SAME_AS]-() }) | id(e)],
       [(d)-[a:ABOUT]->(e:Entity) | [id(e), a.weight]] + [(x)-[a:ABOUT]->(e:Entity) | [id(e), a.weight]]]) AS names
CALL () {
  MATCH (e:Kgrag:Entity) WHERE e.id IN $links
  RETURN collect([id(e), e.id]) AS linked
}
CALL (names) {
  UNWIND CASE WHEN $same_as THEN names ELSE [] END AS passage
  UNWIND passage[6] + [own IN passage[7] | own[0]] AS number
  MATCH (e:Entity)-[:SAME_AS]-(f:Entity) WHERE id(e) = number
  WITH number, e, min(f.id) AS other
  RETURN collect([number, CASE WHEN other < e.id THEN other ELSE e.id END]) AS same
}
RETURN names, linked, same
