// PathRank, at the end: the names that tie passages together, as numbers that hold for this statement alone.
// mode: read
// $ids: LIST<STRING> - passage ids
// $links: LIST<STRING> - entities that the question names
// $cap: INTEGER = 50 - passages that a name may have, unless it is a title
// -> passages: LIST<LIST<ANY>> - [passage id, [names that it mentions], [[name, weight] of those that its title or headings bear]]
// -> links: LIST<INTEGER> - the numbers of $links, -1 for one that is gone
CALL () {
  UNWIND $ids AS id
  MATCH (d:Document)-[:HAS_PASSAGE]->(x:Passage {id: id})
  RETURN collect([id, [(x)-[:MENTIONS]->(e:Entity) WHERE (e.df > 1 AND e.df <= $cap) OR e.ntit > 0 | id(e)],
                  [(d)-[a:ABOUT]->(e:Entity) | [id(e), a.weight]] + [(x)-[a:ABOUT]->(e:Entity) | [id(e), a.weight]]]) AS passages
}
CALL () {
  UNWIND range(0, size($links) - 1) AS i
  OPTIONAL MATCH (e:Entity {id: $links[i]})
  WITH i, CASE WHEN e IS NULL THEN -1 ELSE id(e) END AS number ORDER BY i
  RETURN collect(number) AS links
}
RETURN passages, links
