// PathRank, at the end: the names that tie passages together, as numbers that hold for this statement alone; and what the
// outermost clause of the question is compared with.
// mode: read
// $ids: LIST<STRING> - passage ids
// $links: LIST<STRING> - entities that the question names
// $cap: INTEGER = 50 - passages that a name may have, unless it is a title
// $embedding: STRING - property that holds vectors
// $clause: LIST<FLOAT> = [] - vector of the outermost clause; empty: not wanted
// -> passages: LIST<LIST<ANY>> - [passage id, its name, [names that it mentions], [[name, weight] of those that its title or headings bear], cosine with the clause or null, its sentences in stems or null]
// -> links: LIST<LIST<ANY>> - [entity id, its number] of $links
CALL () {
  UNWIND $ids AS id
  MATCH (d:Document)-[:HAS_PASSAGE]->(x:Passage {id: id})
  RETURN collect([id, x.name, [(x)-[:MENTIONS]->(e:Entity) WHERE (e.df > 1 AND e.df <= $cap) OR e.ntit > 0 | id(e)],
                  [(d)-[a:ABOUT]->(e:Entity) | [id(e), a.weight]] + [(x)-[a:ABOUT]->(e:Entity) | [id(e), a.weight]],
                  CASE WHEN size($clause) > 0 THEN 2 * vector.similarity.cosine(x[$embedding], $clause) - 1 END,
                  CASE WHEN size($clause) > 0 THEN x.sentences END]) AS passages
}
CALL () {
  UNWIND $links AS id
  MATCH (e:Entity {id: id})
  RETURN collect([id, id(e)]) AS links
}
RETURN passages, links
