// PathRank, one hop: from each source passage over the names that it mentions to the passages that these are the title
// of or that mention them too, and back from its own names to those who mention them; every target is scored against
// the rest of the question, without the words that led to its source.
// mode: read
// $sources: LIST<MAP> - {id, vector, terms: [{stem, weight}] (of the rest of the question), own (entities of its title), own_words (their words), skip (entities that are no bridges)}
// $embedding: STRING - property that holds vectors
// $vector: LIST<FLOAT> - the question's vector
// $terms: LIST<MAP> - {stem (between spaces), weight} of the question's words; the weights add up to 1
// $prefixes: LIST<STRING> - the first five letters of the question's longer words
// $passages: INTEGER - passages of the collection
// $beta: FLOAT = 0.25 - weight of shared words
// $iota: FLOAT = 0.3 - weight of a name's rarity
// $pi: FLOAT = 0.1 - weight of a question word near the name
// $tau: FLOAT = 0.3 - weight of being the name's title
// $cap: INTEGER = 50 - passages that a bridge may have, unless it is a title
// $emax: INTEGER = 20 - bridges of a source
// $keep: INTEGER = 60 - targets of a source
// $titled: INTEGER = 5 - passages of a document that its title reaches
// -> source: STRING - passage id
// -> target: STRING - passage id
// -> entity: STRING - name that leads from source to target
// -> forward: BOOLEAN - whether the source mentions the name, not the target alone
// -> is_title: BOOLEAN - whether the name is the target's title
// -> score: FLOAT - bridge plus target against the rest of the question
// -> base: FLOAT - target against the whole question
UNWIND $sources AS source
MATCH (a:Passage {id: source.id})
WITH source, a, split(trim(a.stems), ' ') AS words
CALL (source, a, words) {
  MATCH (a)-[m:MENTIONS]->(e:Entity)
  WHERE (e.df > 1 OR e.ntit > 0) AND (e.df <= $cap OR e.ntit > 0)
    AND NOT e.id IN source.skip AND (e.ntit > 0 OR NOT e.normal IN source.own_words)
  WITH a, e, $iota * log($passages * 1.0 / CASE WHEN e.df > 0 THEN e.df ELSE 1 END) / log($passages + 1.0)
       + CASE WHEN any(p IN m.positions WHERE any(
           i IN range(CASE WHEN p < 6 THEN 0 ELSE p - 6 END, p + size(split(e.normal, ' ')) + 1)
           WHERE (i < p OR i >= p + size(split(e.normal, ' '))) AND left(words[i], 5) IN $prefixes)) THEN $pi ELSE 0.0 END AS weight
  ORDER BY weight DESC, e.id LIMIT $emax
  CALL (a, e, source) {
    MATCH (e)<-[:MENTIONS]-(x:Passage) WHERE e.df <= $cap AND x <> a
    RETURN x, 0.0 AS share
    UNION ALL
    MATCH (e)<-[t:ABOUT]-(d:Document)
    WITH a, source, t, d ORDER BY t.weight DESC, d.id LIMIT $cap
    CALL (d, a, source) {
      MATCH (d)-[:HAS_PASSAGE]->(x:Passage) WHERE x <> a
      RETURN x ORDER BY CASE WHEN COUNT { (d)-[:HAS_PASSAGE]->() } > $titled THEN vector.similarity.cosine(x[$embedding], source.vector) ELSE 0.0 END DESC, x.id LIMIT $titled
    }
    RETURN x, t.weight AS share
  }
  RETURN e, x, weight + $tau * share / (1 + log(CASE WHEN e.ntit > 0 THEN e.ntit ELSE 1 END)) AS bridge, true AS forward, share > 0 AS is_title
  UNION ALL
  UNWIND source.own AS own
  MATCH (e:Entity {id: own}) WHERE e.df <= $cap
  MATCH (e)<-[:MENTIONS]-(x:Passage) WHERE x <> a
  RETURN e, x, $iota * log($passages * 1.0 / e.df) / log($passages + 1.0) AS bridge, false AS forward, false AS is_title
}
WITH source, x, e, bridge, forward, is_title ORDER BY bridge DESC, e.id
WITH source, x, head(collect({entity: e.id, bridge: bridge, forward: forward, is_title: is_title})) AS best
WITH source, x, best, x.stems AS stems
WITH source, x, best, stems, best.bridge + (2 * vector.similarity.cosine(x[$embedding], source.vector) - 1)
       + $beta * reduce(s = 0.0, t IN source.terms | s + CASE WHEN stems CONTAINS t.stem THEN t.weight ELSE 0.0 END) AS score
ORDER BY score DESC, x.id
WITH source, collect({x: x, best: best, score: score, stems: stems})[0..$keep] AS targets
UNWIND targets AS target
WITH source, target, target.x AS x, target.stems AS stems
RETURN source.id AS source, x.id AS target, target.best.entity AS entity, target.best.forward AS forward,
       target.best.is_title AS is_title, target.score AS score,
       (2 * vector.similarity.cosine(x[$embedding], $vector) - 1)
       + $beta * reduce(s = 0.0, t IN $terms | s + CASE WHEN stems CONTAINS t.stem THEN t.weight ELSE 0.0 END) AS base
