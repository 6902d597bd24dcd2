// Count the passages that mention each entity, the distinct titles that bear its name, and the documents with such headings.
// Name the entity as most passages write it (the last of ties by code point), else as titles and facts write it (the
// first), else by the Wikipedia article that it was tagged as. A phrase that is only counted has its normal form as name.
// Their mark of the titles stage is removed, since this counts and names them.
// An entity of a knowledge graph (key) keeps its name, and so does one whose mentions were written without a text.
// mode: write
// $ids: LIST<STRING> - entity ids
UNWIND $ids AS id
MATCH (e:Kgrag:Entity {id: id})
CALL (e) { MATCH (e)<-[:ABOUT]-(d:Document) RETURN count(DISTINCT toLower(d.title)) AS titles }
CALL (e) {
  MATCH (e)<-[:ABOUT]-(:Passage)<-[:HAS_PASSAGE]-(d:Document) WHERE NOT (d)-[:ABOUT]->(e)
  RETURN count(DISTINCT d) AS within
}
WITH e, titles, within, [stage IN e.todo WHERE stage <> 'titles'] AS todo
SET e.df = COUNT { (e)<-[:MENTIONS]-() }, e.ntit = titles + within, e.todo = CASE WHEN size(todo) > 0 THEN todo END
WITH e WHERE e.key IS NULL
CALL (e) {
  OPTIONAL MATCH (e)<-[m:MENTIONS]-() WHERE m.text IS NOT NULL
  WITH m.text AS text, count(*) AS n ORDER BY n DESC, text DESC LIMIT 1
  RETURN text AS commonest
}
CALL (e) {
  MATCH (e)<-[a:ABOUT]-() RETURN min(a.text) AS text
  UNION ALL
  MATCH (e)<-[end:SUBJECT]-(t) WHERE NOT t.subject IN coalesce(end.aliases, []) RETURN min(t.subject) AS text
  UNION ALL
  MATCH (e)<-[end:OBJECT]-(t) WHERE NOT t.object IN coalesce(end.aliases, []) RETURN min(t.object) AS text
  UNION ALL
  MATCH (e)<-[m:MENTIONS]-() WHERE e.named IS NULL RETURN min(m.wikipedia) AS text
}
WITH e, commonest, min(text) AS other
SET e.name = coalesce(commonest, other, CASE WHEN e.named OR e.df > 0 THEN e.name ELSE e.normal END)
