// KGP, one level of the walk: the passages that the last one of each path is tied to, the best of them for each path.
// They are scored by a vector (the evidence wanted next), or by the words of the question where a path has no vector.
// mode: read
// $paths: LIST<MAP> - {passages (ids in order), vector (the evidence wanted next; empty: by words)}
// $seen: LIST<STRING> - passages that were visited
// $edges: LIST<STRING> - which ties are walked: keyword (both have it among their best), word (both hold one that is a keyword of any), named (by a language model), similar, mention, tagme, title, document, next, page
// $terms: LIST<MAP> - {stem (between spaces), weight} of the question's words; the weights add up to 1
// $embedding: STRING - property that holds vectors
// $cap: INTEGER = 50 - passages that a keyword or name may have to tie them
// $keywords: INTEGER = 100 - how many of a passage's best keywords tie it
// $similar: INTEGER = 100 - how many of the nearest passages are tied
// $rho: FLOAT = 0.0 - how certain TAGME must be of a name, 0 to 1
// $keep: INTEGER = 3 - passages for each path
// -> rows: LIST<MAP> - {path (its number), best: LIST<MAP> of {id, score, kind, name (of the keyword, name or page that ties them)}, best first}
// source: KGP, section 4, equation 1, and Algorithm 1
UNWIND range(0, size($paths) - 1) AS number
WITH number, $paths[number].vector AS vector, $paths[number].passages AS path
MATCH (a:Kgrag:Passage {id: path[-1]})
CALL (a) {
  MATCH (a)-[:NEXT]-(x:Passage) WHERE 'next' IN $edges
  RETURN x, 'next' AS kind, '' AS name
  UNION ALL
  MATCH (a)-[s:SIMILAR]-(x:Passage) WHERE 'similar' IN $edges
  WITH s, x, startNode(s) AS from, endNode(s) AS to
  WHERE COUNT { MATCH (from)-[b:SIMILAR]->(y:Passage) WHERE b.score > s.score OR (b.score = s.score AND y.id < to.id) } < $similar
  RETURN x, 'similar' AS kind, '' AS name
  UNION ALL
  MATCH (a)-[h:HAS_KEYWORD]->(w:Keyword) WHERE 'keyword' IN $edges
  WITH h, w ORDER BY h.weight DESC, w.id LIMIT $keywords
  WITH w WHERE w.df <= $cap
  MATCH (w)<-[g:HAS_KEYWORD]-(x:Passage)
  WHERE CASE WHEN $keywords < 100 THEN COUNT { MATCH (x)-[b:HAS_KEYWORD]->(v:Keyword) WHERE b.weight > g.weight OR (b.weight = g.weight AND v.id < w.id) } ELSE 0 END < $keywords
  RETURN x, 'keyword' AS kind, w.name AS name
  UNION ALL
  UNWIND CASE WHEN 'word' IN $edges THEN [a.collection] ELSE [] END AS searched // else the planner looks up all keywords first
  MATCH (w:Keyword {collection: searched})
  WHERE a.stems CONTAINS (' ' + w.stem + ' ') AND ($keywords >= 100 OR EXISTS {
    MATCH (w)<-[g:HAS_KEYWORD]-(y:Passage)
    WHERE COUNT { MATCH (y)-[b:HAS_KEYWORD]->(v:Keyword) WHERE b.weight > g.weight OR (b.weight = g.weight AND v.id < w.id) } < $keywords
  })
  WITH a, w, COLLECT { MATCH (x:Passage {collection: a.collection}) WHERE x.stems CONTAINS (' ' + w.stem + ' ') RETURN x } AS holders
  WHERE size(holders) <= $cap
  UNWIND holders AS x
  RETURN x, 'word' AS kind, w.name AS name
  UNION ALL
  MATCH (a)-[:NAMES]->(w:Keyword) WHERE 'named' IN $edges AND w.df <= $cap
  MATCH (w)<-[:NAMES]-(x:Passage)
  RETURN x, 'named' AS kind, w.name AS name
  UNION ALL
  MATCH (a)-[:MENTIONS]->(e:Entity) WHERE 'mention' IN $edges AND e.df <= $cap
  MATCH (e)<-[:MENTIONS]-(x:Passage)
  RETURN x, 'mention' AS kind, e.name AS name
  UNION ALL
  MATCH (a)-[m:MENTIONS]->(e:Entity) WHERE 'tagme' IN $edges AND m.tagme >= $rho AND e.df <= $cap
  MATCH (e)<-[n:MENTIONS]-(x:Passage) WHERE n.tagme >= $rho
  RETURN x, 'tagme' AS kind, e.name AS name
  UNION ALL
  MATCH (a)-[:MENTIONS]->(e:Entity) WHERE 'title' IN $edges AND e.ntit > 0
  CALL (e) {
    MATCH (e)<-[:ABOUT]-(d:Document)
    RETURN d ORDER BY d.id LIMIT $cap
  }
  MATCH (d)-[:HAS_PASSAGE]->(x:Passage)
  RETURN x, 'title' AS kind, e.name AS name
  UNION ALL
  MATCH (a)<-[:HAS_PASSAGE]-(:Document)-[:ABOUT]->(e:Entity) WHERE 'title' IN $edges AND e.df <= $cap
  MATCH (e)<-[:MENTIONS]-(x:Passage)
  RETURN x, 'titled' AS kind, e.name AS name
  UNION ALL
  MATCH (a)<-[:HAS_PASSAGE]-(d:Document)-[:HAS_PASSAGE]->(x:Passage) WHERE 'document' IN $edges
  RETURN x, 'document' AS kind, d.name AS name
  UNION ALL
  MATCH (a)<-[:CONTAINS]-(g:Page)-[:CONTAINS]->(x:Passage) WHERE 'page' IN $edges
  RETURN x, 'page' AS kind, g.name AS name
}
WITH number, vector, path, x, kind, name WHERE NOT x.id IN path AND NOT x.id IN $seen
ORDER BY kind, name
WITH number, vector, x, head(collect([kind, name])) AS tie
WITH x.id AS id, CASE WHEN any(p IN $paths WHERE size(p.vector) > 0) THEN x[$embedding] END AS embedding, x.stems AS stems, collect({number: number, vector: vector, tie: tie}) AS ways
WITH id, embedding, ways, reduce(s = 0.0, t IN $terms | s + CASE WHEN stems CONTAINS t.stem THEN t.weight ELSE 0.0 END) AS shared
UNWIND ways AS way
WITH way.number AS number, id, way.tie AS tie,
     CASE WHEN size(way.vector) > 0 THEN vector.similarity.cosine(embedding, way.vector) ELSE shared END AS score
ORDER BY number, score DESC, id
WITH number, collect({id: id, score: score, kind: tie[0], name: tie[1]})[0..$keep] AS best
RETURN collect({path: number, best: best}) AS rows
