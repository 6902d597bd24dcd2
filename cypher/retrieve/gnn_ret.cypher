// GNN-Ret, one layer: the passages that some passages (the senders) are tied to, each with its nearness to the question.
// Two passages are tied when one follows the other in a document, when they share a keyword or a name, or when one
// mentions the name that the other's document is titled, or its headings. Keywords and names of many passages tie nothing.
// mode: read
// $senders: LIST<STRING> - passage ids
// $edges: LIST<STRING> - which kinds of ties: next, keyword, named (by a language model), mention, title
// $embedding: STRING - property that holds vectors
// $vector: LIST<FLOAT> - the question's vector
// $keyword_cap: INTEGER = 50 - passages that a keyword, or what a language model named, may have
// $mention_cap: INTEGER = 50 - passages that may mention a name
// $title_cap: INTEGER = 50 - documents that a name may be the title of
// $titled: INTEGER = 5 - passages of a long document that its title reaches
// -> ties: LIST<MAP> - {sender, id (of the passage it is tied to), score ((1 + cosine) / 2), kind, name (of what ties them)}; kind: next, keyword, named, mention, title (the sender mentions the other's title), titled (the other way round)
// source: GNN-Ret, sections 3.1 and 3.2
UNWIND $senders AS id
MATCH (a:Kgrag:Passage {id: id})
CALL (a) {
  MATCH (a)-[:NEXT]-(x:Passage) WHERE 'next' IN $edges
  RETURN x, 'next' AS kind, '' AS name, 0 AS df
  UNION ALL
  MATCH (a)-[:HAS_KEYWORD]->(w:Keyword) WHERE 'keyword' IN $edges AND w.df <= $keyword_cap
  MATCH (w)<-[:HAS_KEYWORD]-(x:Passage)
  RETURN x, 'keyword' AS kind, w.name AS name, w.df AS df
  UNION ALL
  MATCH (a)-[:NAMES]->(w:Keyword) WHERE 'named' IN $edges AND w.df <= $keyword_cap
  MATCH (w)<-[:NAMES]-(x:Passage)
  RETURN x, 'named' AS kind, w.name AS name, w.df AS df
  UNION ALL
  MATCH (a)-[:MENTIONS]->(e:Entity) WHERE 'mention' IN $edges AND e.df <= $mention_cap
  MATCH (e)<-[:MENTIONS]-(x:Passage)
  RETURN x, 'mention' AS kind, e.name AS name, e.df AS df
  UNION ALL
  MATCH (a)-[:MENTIONS]->(e:Entity) WHERE 'title' IN $edges AND e.ntit > 0 AND e.ntit <= $title_cap
  MATCH (e)<-[:ABOUT]-(n)
  CALL (n) {
    WITH n WHERE n:Passage
    RETURN n AS x
    UNION ALL
    MATCH (n)-[:HAS_PASSAGE]->(x:Passage)
    RETURN x ORDER BY vector.similarity.cosine(x[$embedding], $vector) DESC, x.id LIMIT $titled
  }
  RETURN x, 'title' AS kind, e.name AS name, 0 AS df
  UNION ALL
  MATCH (a)<-[:HAS_PASSAGE]-(d:Document)
  UNWIND [a, d] AS n
  MATCH (n)-[:ABOUT]->(e:Entity) WHERE 'title' IN $edges AND e.df <= $mention_cap
  MATCH (e)<-[:MENTIONS]-(x:Passage)
  RETURN x, 'titled' AS kind, e.name AS name, e.df AS df
}
WITH a, x, kind, name, df WHERE x <> a
ORDER BY df, kind, name
WITH a, x, head(collect({kind: kind, name: name})) AS tie
WITH x, collect({sender: a.id, tie: tie}) AS ties
WITH x.id AS id, vector.similarity.cosine(x[$embedding], $vector) AS score, ties WHERE score IS NOT NULL
UNWIND ties AS tie
RETURN collect({sender: tie.sender, id: id, score: score, kind: tie.tie.kind, name: tie.tie.name}) AS ties
