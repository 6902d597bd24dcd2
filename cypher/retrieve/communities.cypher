// Communities, local search: the passages with names from a question, and the source passages of the reports on the
// communities of these names. Without names, the nearest reports are used.
// mode: read
// $links: LIST<MAP> - {entity (id), weight} of the question
// $index: STRING - the collection's vector index of communities
// $collection: STRING - its name: before its first community it has no such index
// $embedding: STRING - property that holds vectors
// $vector: LIST<FLOAT> - the question's vector
// $candidates: INTEGER = 60 - reports looked up by their vectors, if it names nothing
// $own: INTEGER = 200 - passages of a name that are looked at
// $communities: INTEGER = 8 - communities that are followed
// -> named: LIST<MAP> - {id, score ((1 + cosine) / 2), weight (of the names that it has), name (one of these)}
// -> joined: LIST<MAP> - {id, score, community: {id, name, title, text, score}}
CALL () {
  UNWIND $links AS link
  MATCH (e:Kgrag:Entity {id: link.entity})
  CALL (e) {
    MATCH (p:Passage)-[:MENTIONS]->(e) RETURN p LIMIT toInteger($own)
    UNION
    MATCH (e)<-[:ABOUT]-(:Document)-[:HAS_PASSAGE]->(p:Passage) RETURN p LIMIT toInteger($own)
  }
  WITH p, sum(link.weight) AS weight, min(e.name) AS name
  RETURN collect({id: p.id, score: vector.similarity.cosine(p[$embedding], $vector), weight: weight, name: name}) AS named
}
CALL () {
  CALL () {
    UNWIND $links AS link
    MATCH (e:Kgrag:Entity {id: link.entity})-[:IN_COMMUNITY]->(:Community)-[:PART_OF*0..6]->(c:Community)
    RETURN c, vector.similarity.cosine(c[$embedding], $vector) AS near
    UNION
    WITH 1 AS one WHERE size($links) = 0 AND EXISTS { (:Community {collection: $collection}) }
    CALL db.index.vector.queryNodes($index, $candidates, $vector) YIELD node AS c
    RETURN c, vector.similarity.cosine(c[$embedding], $vector) AS near
  }
  WITH DISTINCT c, near WHERE near IS NOT NULL
  ORDER BY near DESC, c.id LIMIT toInteger($communities)
  MATCH (c)-[:SUMMARISES]->(p:Passage)
  RETURN collect({id: p.id, score: vector.similarity.cosine(p[$embedding], $vector),
                  community: c {.id, .name, .title, .text, score: near}}) AS joined
}
RETURN named, joined
