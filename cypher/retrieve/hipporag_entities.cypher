// HippoRAG, query nodes: for each name the entity of a triple that it is the name of, or else the one of the nearest name.
// mode: read
// $index: STRING - the collection's vector index of entities
// $embedding: STRING - property that holds vectors
// $names: LIST<MAP> - {id: the entity of exactly that name, vector}
// $candidates: INTEGER = 100 - over-fetch of the vector index
// -> rows: LIST<MAP> - for each name {id, element, name, df: passages that mention it, score: (1 + cosine) / 2}, or null where no triple names anything
UNWIND range(0, size($names) - 1) AS number
WITH number, $names[number] AS wanted
CALL (wanted) {
  OPTIONAL MATCH (e:Kgrag:Entity {id: wanted.id}) WHERE EXISTS { (e)<-[:SUBJECT|OBJECT]-() }
  RETURN e AS exact
}
CALL (wanted, exact) {
  WITH * WHERE exact IS NULL
  CALL db.index.vector.queryNodes($index, $candidates, wanted.vector) YIELD node AS e
  WITH e, wanted WHERE EXISTS { (e)<-[:SUBJECT|OBJECT]-() }
  WITH e, vector.similarity.cosine(e[$embedding], wanted.vector) AS score ORDER BY score DESC, e.id LIMIT 1
  RETURN collect({id: e.id, element: elementId(e), name: e.name, df: e.df, score: score}) AS near
}
WITH number, CASE WHEN exact IS NULL THEN head(near)
                  ELSE {id: exact.id, element: elementId(exact), name: exact.name, df: exact.df, score: 1.0} END AS entity
ORDER BY number
RETURN collect(coalesce(entity, {})) AS rows
