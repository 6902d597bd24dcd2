// PathRank, at the end: the names that tie passages together, each with the passages that it ties; and what the outermost
// clause of the question is compared with.
// mode: read
// $ids: LIST<STRING> - passage ids
// $links: LIST<STRING> - entities that the question names
// $cap: INTEGER = 50 - passages that a name may have, unless it is a title
// $embedding: STRING - property that holds vectors
// $clause: LIST<FLOAT> = [] - vector of the outermost clause; empty: not wanted
// $same_as: BOOLEAN = true - whether the names of one entity tie passages as one
// -> names: LIST<LIST<ANY>> - [passage id, its name, its title, its cosine with the clause or null, its sentences in stems or null, whether the names in it are still to be found]
// -> entities: LIST<LIST<ANY>> - [positions in $ids, the weight of each: 0 where it mentions the name, else that of a title or heading which bears it, entity id if it is of $links, the same for the names of one entity or null]
UNWIND range(0, size($ids) - 1) AS i
MATCH (d:Document)-[:HAS_PASSAGE]->(x:Passage {id: $ids[i]})
WITH collect([x.id, x.name, x.title,
       CASE WHEN size($clause) > 0 THEN 2 * vector.similarity.cosine(x[$embedding], $clause) - 1 END,
       CASE WHEN size($clause) > 0 THEN x.sentences END, coalesce('mentions' IN x.todo, false)]) AS names, collect([i, x, d]) AS passages
CALL () {
  MATCH (e:Entity) WHERE e.id IN $links
  RETURN collect(e) AS linked
}
CALL (linked, passages) {
  UNWIND passages AS passage
  WITH linked, passage[0] AS i, passage[1] AS x, passage[2] AS d
  CALL (x, d) {
    MATCH (x)-[:MENTIONS]->(e:Entity) WHERE (e.df > 1 AND e.df <= $cap) OR e.ntit > 0 OR ($same_as AND e.df <= $cap AND EXISTS { (e)-[:SAME_AS]-() })
    RETURN e, 0.0 AS weight
    UNION ALL
    MATCH (d)-[a:ABOUT]->(e:Entity)
    RETURN e, a.weight AS weight
    UNION ALL
    MATCH (x)-[a:ABOUT]->(e:Entity)
    RETURN e, a.weight AS weight
  }
  WITH linked, e, collect(i) AS positions, collect(weight) AS weights
  RETURN collect([positions, weights, CASE WHEN e IN linked THEN e.id END,
    CASE WHEN $same_as THEN reduce(least = null, id IN [(e)-[:SAME_AS]-(f:Entity) | CASE WHEN f.id < e.id THEN f.id ELSE e.id END] | CASE WHEN id >= least THEN least ELSE id END) END]) AS entities
}
RETURN names, entities
