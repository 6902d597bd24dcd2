// A question in the graph: the entities among its word sequences, the counts of its words, the size of the corpus.
// mode: read
// $collection: STRING - name of the collection
// $names: LIST<STRING> - ids of entities, one for each word sequence of the question
// $stemmed: LIST<STRING> - the same sequences in stems: titles in another inflection
// $words: LIST<STRING> - ids of its words
// -> passages: INTEGER - passages of the collection
// -> density: FLOAT - share of the passages that mention two names or more that can serve as bridges
// -> density0: FLOAT - the same without mentions that are known from triples alone
// -> tied: BOOLEAN - whether names of the collection are tied as one entity's
// -> entities: LIST<MAP> - {id, name, normal, ntit, df, bearers (documents and passages of such a title), same (other names of it: {id, name, ntit, score})}
// -> inflected: LIST<MAP> - {id, name, normal, stemmed, ntit, df, bearers, same} of titles
// -> words: LIST<MAP> - {stem, df, proper}
MATCH (c:Kgrag:Collection {id: $collection})
CALL () {
  UNWIND $names AS id
  MATCH (e:Kgrag:Entity {id: id})
  WHERE e.df > 0 OR e.ntit > 0
  RETURN collect(e {.id, .name, .normal, .ntit, .df, bearers: COUNT { (e)<-[:ABOUT]-() }, same: [(e)-[s:SAME_AS]-(f:Entity) | f {.id, .name, .ntit, score: s.score}]}) AS entities
}
CALL () {
  MATCH (e:Entity) WHERE e.collection = $collection AND e.stemmed IN $stemmed AND e.ntit > 0
  RETURN collect(e {.id, .name, .normal, .stemmed, .ntit, .df, bearers: COUNT { (e)<-[:ABOUT]-() }, same: [(e)-[s:SAME_AS]-(f:Entity) | f {.id, .name, .ntit, score: s.score}]}) AS inflected
}
CALL () {
  UNWIND $words AS id
  MATCH (w:Kgrag:Word {id: id})
  RETURN collect({stem: w.stem, df: w.df, proper: w.upper > w.lower}) AS words
}
RETURN c.passages AS passages, c.density AS density, coalesce(c.density0, c.density) AS density0, coalesce(c.tied, false) AS tied,
       entities, inflected, words
