// Personalised PageRank, local: the neighbourhood of the seeds. It has the passages of seed entities and of entities
// connected to them by a triple or a similar name, in order of the walk's probability; the passages nearest to the
// question; then the passages that share most names with all of these. Hubs are not expanded. Nodes are given by their
// element ids, which are short.
// mode: read
// $entities: LIST<STRING> - seed entities
// $passages: LIST<STRING> - seed passages
// $cap: INTEGER = 50 - passages or triples that an entity may have to lead on
// $titled: INTEGER = 5 - passages of a document that its title reaches
// $near: INTEGER = 50 - entities that lead to passages
// $surrounding: INTEGER = 100 - passages that these lead to
// $most: INTEGER = 150 - passages that share names with those before
// $same_as: BOOLEAN = true - whether the names of one entity are tied
// -> seeds: LIST<LIST<ANY>> - [id, element id, passages that mention it] of the seed entities
// -> passages: LIST<LIST<ANY>> - [id, element id, mentioned entities, entities of its titles, subjects of its triples, their objects]
// -> similar: LIST<LIST<ANY>> - [entity, entity, score] of resembling names; of names of one entity the score is 1
CALL () {
  UNWIND $entities AS id
  MATCH (e:Kgrag:Entity {id: id})
  RETURN collect(e) AS seeds
}
CALL (seeds) {
  UNWIND seeds AS e
  CALL (e) {
    WITH e, COUNT { (e)<-[:SUBJECT|OBJECT]-() } AS degree WHERE 0 < degree <= $cap
    MATCH (e)<-[:SUBJECT|OBJECT]-(:Triple)-[:SUBJECT|OBJECT]->(f:Entity)
    RETURN f, 1.0 / degree AS share
    UNION ALL
    WITH COLLECT { MATCH (e)-[:SIMILAR]-(f:Entity) RETURN f } AS alike // read once: a writer may remove them
    UNWIND alike AS f
    RETURN f, 1.0 / size(alike) AS share
    UNION ALL
    MATCH (e)-[:SAME_AS]-(f:Entity) WHERE $same_as
    RETURN f, 1.0 AS share
    UNION ALL
    RETURN e AS f, 1.0 AS share
  }
  WITH f, sum(share) AS share WHERE f.df <= $cap OR f.ntit <= $cap
  WITH f, share ORDER BY share DESC, f.id LIMIT $near
  RETURN collect(f) AS near, collect(share) AS shares
}
CALL (near, shares) {
  UNWIND range(0, size(near) - 1) AS i
  WITH near[i] AS e, shares[i] AS share
  CALL (e) {
    WITH e WHERE 0 < e.df <= $cap // it is 0 until the end of an ingest
    MATCH (e)<-[:MENTIONS]-(p:Passage)
    RETURN p
    UNION
    WITH e WHERE 0 < e.ntit <= $cap
    MATCH (e)<-[:ABOUT]-(n)
    CALL (n) {
      WITH n WHERE n:Passage
      RETURN n AS p
      UNION ALL
      MATCH (n)-[:HAS_PASSAGE]->(p:Passage) WHERE p.ordinal < $titled
      RETURN p
    }
    RETURN p
  }
  WITH p, sum(share / (e.df + e.ntit)) AS share ORDER BY share DESC, p.id LIMIT $surrounding
  RETURN p
  UNION
  UNWIND $passages AS id
  MATCH (p:Kgrag:Passage {id: id})
  RETURN p
}
WITH seeds, near, collect(p) AS first
CALL (first) {
  WITH first WHERE $most > 0
  UNWIND first AS p
  MATCH (p)-[:MENTIONS]->(e:Entity) WHERE e.df <= $cap AND e.ntit <= $cap AND (e.df > 1 OR e.ntit > 0)
  WITH e, count(*) * 1.0 / (e.df + e.ntit) AS share
  CALL (e) {
    MATCH (e)<-[:MENTIONS]-(x:Passage)
    RETURN x
    UNION ALL
    WITH e WHERE e.ntit > 0
    MATCH (e)<-[:ABOUT]-(n)
    CALL (n) {
      WITH n WHERE n:Passage
      RETURN n AS x
      UNION ALL
      MATCH (n)-[:HAS_PASSAGE]->(x:Passage) WHERE x.ordinal < $titled
      RETURN x
    }
    RETURN x
  }
  WITH x, sum(share) AS shares ORDER BY shares DESC, x.id LIMIT $most
  RETURN collect(x) AS further
}
CALL (first, further) {
  UNWIND first + further AS p
  WITH DISTINCT p
  CALL (p) {
    MATCH (p)-[:MENTIONS]->(e)
    RETURN collect(elementId(e)) AS mentions
  }
  CALL (p) {
    MATCH (p)<-[:HAS_PASSAGE]-(:Document)-[:ABOUT]->(e)
    RETURN collect(elementId(e)) AS titles
  }
  CALL (p) {
    MATCH (p)-[:ABOUT]->(e)
    RETURN collect(elementId(e)) AS headings
  }
  CALL (p) {
    MATCH (p)-[:STATES]->(t:Triple)-[:SUBJECT]->(s), (t)-[:OBJECT]->(o)
    RETURN collect(elementId(s)) AS subjects, collect(elementId(o)) AS objects
  }
  RETURN collect([p.id, elementId(p), mentions, titles + headings, subjects, objects]) AS passages
}
CALL (near) {
  UNWIND near AS e
  MATCH (e)-[s:SIMILAR|SAME_AS]-(f:Entity) WHERE CASE type(s) WHEN 'SAME_AS' THEN $same_as ELSE startNode(s) = e END
  RETURN collect([elementId(e), elementId(f), CASE type(s) WHEN 'SAME_AS' THEN 1.0 ELSE s.score END]) AS similar
}
RETURN [e IN seeds | [e.id, elementId(e), e.df]] AS seeds, passages, similar
