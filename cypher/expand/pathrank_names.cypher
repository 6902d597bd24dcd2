// PathRank, at the end: the names that tie passages together, as numbers that hold for this statement alone.
// mode: read
// $ids: LIST<STRING> - passage ids
// $links: LIST<STRING> - entities that the question names
// $cap: INTEGER = 50 - passages that a name may have, unless it is a title
// -> passages: LIST<LIST<ANY>> - [passage id, its name, [names that it mentions], [[name, weight] of those that its title or headings bear]]
// -> links: LIST<LIST<ANY>> - [entity id, its number] of $links
CALL () {
  UNWIND $ids AS id
  MATCH (d:Document)-[:HAS_PASSAGE]->(x:Passage {id: id})
  RETURN collect([id, x.name, [(x)-[:MENTIONS]->(e:Entity) WHERE (e.df > 1 AND e.df <= $cap) OR e.ntit > 0 | id(e)],
                  [(d)-[a:ABOUT]->(e:Entity) | [id(e), a.weight]] + [(x)-[a:ABOUT]->(e:Entity) | [id(e), a.weight]]]) AS passages
}
CALL () {
  UNWIND $links AS id
  MATCH (e:Entity {id: id})
  RETURN collect([id, id(e)]) AS links
}
RETURN passages, links
