// The passages that one kind of edge ties to some passages, at a density: what the quality of a graph is measured on.
// mode: read
// $ids: LIST<STRING> - passage ids
// $kind: STRING - keyword (both have it among their best), word (both hold one that is among the best of any), named (a language model named it in both), named+next (the same, or adjacent passages), similar (nearest), stored (nearest that the graph keeps), mention (of the same name), tagme (the same, named by TAGME), title (a name that is mentioned here is the title there, or the other way round), or keyword+title and word+title (either, and passages of one document)
// $density: FLOAT - keyword, word, and these with titles: how many of a passage's best count; similar, stored: how many are nearest; mention, title, named, named+next: how many passages a name may have; tagme: how certain TAGME must be, 0 to 1
// $cap: INTEGER = 50 - passages that a keyword, a name of TAGME, or with titles besides any name, may have
// $index: STRING - the collection's vector index
// $embedding: STRING - property that holds vectors
// $candidates: INTEGER = 200 - vector index candidates, scored again exactly
// -> id: STRING - passage id
// -> neighbours: LIST<STRING> - ids of its neighbours, in no order
// source: KGP, section 3 and Figure 4
UNWIND $ids AS id
MATCH (a:Kgrag:Passage {id: id})
CALL (a) {
  WITH a WHERE $kind IN ['keyword', 'keyword+title']
  MATCH (a)-[h:HAS_KEYWORD]->(w:Keyword)
  WITH w ORDER BY h.weight DESC, w.id LIMIT toInteger($density)
  WITH w WHERE w.df <= $cap
  MATCH (w)<-[g:HAS_KEYWORD]-(x:Passage)
  WHERE COUNT { MATCH (x)-[b:HAS_KEYWORD]->(v:Keyword) WHERE b.weight > g.weight OR (b.weight = g.weight AND v.id < w.id) } < $density
  RETURN x
  UNION
  UNWIND CASE WHEN $kind IN ['word', 'word+title'] THEN [a.collection] ELSE [] END AS searched // else the planner looks up all keywords first
  MATCH (w:Keyword {collection: searched})
  WHERE a.stems CONTAINS (' ' + w.stem + ' ') AND EXISTS {
    MATCH (w)<-[g:HAS_KEYWORD]-(y:Passage)
    WHERE COUNT { MATCH (y)-[b:HAS_KEYWORD]->(v:Keyword) WHERE b.weight > g.weight OR (b.weight = g.weight AND v.id < w.id) } < $density
  }
  WITH COLLECT { MATCH (x:Passage {collection: a.collection}) WHERE x.stems CONTAINS (' ' + w.stem + ' ') RETURN x } AS holders
  WHERE size(holders) <= $cap
  UNWIND holders AS x
  RETURN x
  UNION
  WITH a WHERE $kind IN ['keyword+title', 'word+title']
  MATCH (a)<-[:HAS_PASSAGE]-(:Document)-[:HAS_PASSAGE]->(x:Passage)
  RETURN x
  UNION
  WITH a WHERE $kind = 'stored'
  MATCH (a)-[s:SIMILAR]->(x:Passage)
  WITH x ORDER BY s.score DESC, x.id LIMIT toInteger($density)
  RETURN x
  UNION
  WITH a WHERE $kind = 'similar'
  CALL db.index.vector.queryNodes($index, $candidates, a[$embedding]) YIELD node
  WITH a, node AS x WHERE x <> a
  ORDER BY vector.similarity.cosine(x[$embedding], a[$embedding]) DESC, x.id LIMIT toInteger($density)
  RETURN x
  UNION
  WITH a WHERE $kind = 'mention'
  MATCH (a)-[:MENTIONS]->(e:Entity) WHERE e.df <= $density
  MATCH (e)<-[:MENTIONS]-(x:Passage)
  RETURN x
  UNION
  WITH a WHERE $kind IN ['named', 'named+next']
  MATCH (a)-[:NAMES]->(k:Keyword) WHERE k.df <= $density
  MATCH (k)<-[:NAMES]-(x:Passage)
  RETURN x
  UNION
  WITH a WHERE $kind = 'named+next'
  MATCH (a)-[:NEXT]-(x:Passage)
  RETURN x
  UNION
  WITH a WHERE $kind = 'tagme'
  MATCH (a)-[m:MENTIONS]->(e:Entity) WHERE m.tagme >= $density AND e.df <= $cap
  MATCH (e)<-[n:MENTIONS]-(x:Passage) WHERE n.tagme >= $density
  RETURN x
  UNION
  WITH a, CASE WHEN $kind = 'title' THEN $density WHEN $kind IN ['keyword+title', 'word+title'] THEN $cap ELSE 0 END AS most WHERE most > 0
  MATCH (a)-[:MENTIONS]->(e:Entity) WHERE 0 < e.ntit <= most
  MATCH (e)<-[:ABOUT]-(:Document)-[:HAS_PASSAGE]->(x:Passage)
  RETURN x
  UNION
  WITH a, CASE WHEN $kind = 'title' THEN $density WHEN $kind IN ['keyword+title', 'word+title'] THEN $cap ELSE 0 END AS most WHERE most > 0
  MATCH (a)<-[:HAS_PASSAGE]-(:Document)-[:ABOUT]->(e:Entity) WHERE e.df <= most
  MATCH (e)<-[:MENTIONS]-(x:Passage)
  RETURN x
}
WITH id, a, x WHERE x <> a
RETURN id, collect(x.id) AS neighbours
