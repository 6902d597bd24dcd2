// PathRank, seeds: nearest passages, passages that share words, and passages that the question's names lead to; each
// scored against the question, with the values for the next step. Ties in the scores of words are cut as in
// `retrieve/fulltext`. Passages without an ordinal, whose documents are being written, are skipped.
// mode: read
// $vector_index: STRING - the collection's vector index
// $text_index: STRING - its full-text index of stems
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds vectors
// $vector: LIST<FLOAT> - the question's vector
// $query: STRING - the question's stems for Lucene, or empty
// $terms: LIST<MAP> - {stem (between spaces), weight} of the question's words; the weights add up to 1
// $links: LIST<STRING> - entities that the question names
// $word_weight: FLOAT = 0.25 - weight of shared words
// $lexical: FLOAT = 0.0 - what the passage of the best BM25 score is raised by; others by their share of that score
// $seeds: INTEGER = 30 - passages of each index
// $candidates: INTEGER = 200 - over-fetch of the vector index
// $few: INTEGER = 20000 - passages of a collection up to which the index of passages is asked for more: see `retrieve/vector`
// $titled: INTEGER = 5 - passages of a document that its title reaches
// $most: INTEGER = 50 - documents or passages that a name reaches
// -> seeds: LIST<MAP> - {id, name, base (score against the question), title (of its document), own ({id, weight} of the entities that its document's title or its own headings name), mentioned (those of the question's entities that it mentions), about (those of these that one of its triples is about)}, best first
CALL () {
  WITH $query AS query WHERE query <> ''
  CALL db.index.fulltext.queryNodes($text_index, query, {limit: $seeds + 1}) YIELD node, score
  WITH query, collect({node: node, score: score}) AS top
  CALL (query, top) {
    WITH * WHERE size(top) > $seeds AND top[-1].score = top[-2].score
    CALL db.index.fulltext.queryNodes($text_index, query, {limit: 1000 * ($seeds / 1000 + 1)}) YIELD node, score WHERE score >= top[-1].score
    WITH node, score ORDER BY score DESC, node.id LIMIT $seeds
    RETURN collect({node: node, score: score}) AS tied
  }
  UNWIND CASE WHEN size(tied) > 0 THEN tied ELSE top[..$seeds] END AS hit
  RETURN collect({x: hit.node, score: hit.score}) AS worded
}
CALL (worded) {
  OPTIONAL MATCH (c:Kgrag:Collection {id: $collection})
  WITH coalesce(c.passages, 0) AS passages, CASE WHEN c.passages > $few OR c.reached = $embedding AND 50 * abs(c.passages - c.reached_passages) <= c.passages THEN $candidates ELSE $candidates + 2300 END AS reach,
       CASE WHEN c.passages <= $few THEN $seeds + 50 ELSE $candidates END AS exact
  CALL db.index.vector.queryNodes($vector_index, reach, $vector) YIELD node
  WITH passages, reach, exact, collect(node) AS near
  CALL (passages, reach, exact, near) {
    UNWIND CASE WHEN any(x IN near[0..exact] WHERE x.ordinal IS NULL) THEN [x IN near WHERE x.ordinal IS NOT NULL] ELSE near[0..exact] END AS x
    RETURN x
    UNION ALL
    UNWIND CASE WHEN size(near) < reach AND size(near) < 900 AND size(near) < passages AND passages <= $few THEN [$collection] ELSE [] END AS unreached // else the planner looks up all passages first
    MATCH (x:Passage {collection: unreached}) WHERE x[$embedding] IS NOT NULL
    WITH near, collect(x) AS all
    UNWIND near + all AS x
    WITH x, count(*) AS times WHERE times = 1
    RETURN x
  }
  WITH x, vector.similarity.cosine(x[$embedding], $vector) AS score ORDER BY score DESC, x.id LIMIT $seeds
  RETURN x
  UNION
  WITH worded
  UNWIND worded AS hit
  RETURN hit.x AS x
  UNION
  UNWIND $links AS id
  MATCH (e:Kgrag:Entity {id: id}) WHERE e.ntit > 0
  CALL (e) { MATCH (e)<-[a:ABOUT]-(n) RETURN n ORDER BY a.weight DESC, n.id LIMIT $most }
  CALL (n) {
    WITH n WHERE n:Passage
    RETURN n AS x
    UNION ALL
    MATCH (n)-[:HAS_PASSAGE]->(x:Passage)
    RETURN x ORDER BY vector.similarity.cosine(x[$embedding], $vector) DESC, x.id LIMIT $titled
  }
  RETURN x
  UNION
  UNWIND $links AS id
  MATCH (e:Kgrag:Entity {id: id}) WHERE e.ntit = 0 AND e.df <= $most
  MATCH (e)<-[:MENTIONS]-(x:Passage)
  RETURN x
}
WITH DISTINCT worded, x, x.stems AS stems WHERE x.ordinal IS NOT NULL
MATCH (d:Document)-[:HAS_PASSAGE]->(x)
WITH x.id AS id,
       (2 * vector.similarity.cosine(x[$embedding], $vector) - 1)
       + $word_weight * reduce(s = 0.0, t IN $terms | s + CASE WHEN stems CONTAINS t.stem THEN t.weight ELSE 0.0 END)
       + $lexical * coalesce([hit IN worded WHERE hit.x = x | hit.score / worded[0].score][0], 0.0) AS base,
       x.name AS name, x.title AS title,
       [(d)-[a:ABOUT]->(e:Entity) | {id: e.id, weight: a.weight}] + [(x)-[a:ABOUT]->(e:Entity) | {id: e.id, weight: a.weight}] AS own,
       [(x)-[m:MENTIONS]->(e:Kgrag:Entity) WHERE e.id IN $links | [e.id, m.about]] AS named
ORDER BY base DESC, id
WHERE base IS NOT NULL // a passage that is being removed may have lost its vector
RETURN collect({id: id, name: name, base: base, title: title, own: own, mentioned: [e IN named | e[0]], about: [e IN named WHERE e[1] | e[0]]}) AS seeds
