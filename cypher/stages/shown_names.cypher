// How the titles, headings and facts that name entities write them, and which passages mention them.
// mode: read
// $ids: LIST<STRING> - entity ids
// -> id: STRING - entity id
// -> name: STRING - its name as it is shown
// -> normal: STRING - normal form
// -> titles: LIST<MAP> - {title, lead (beginning of the text)} of documents
// -> headings: LIST<MAP> - {section, text} of passages
// -> facts: LIST<STRING> - subjects and objects of triples
// -> articles: LIST<STRING> - titles of the Wikipedia articles that TAGME took it for, where nothing else names it
// -> passages: LIST<STRING> - ids of the passages that mention it, where nothing else names it
UNWIND $ids AS id
MATCH (e:Entity {id: id})
RETURN id, e.name AS name, e.normal AS normal,
       COLLECT { MATCH (e)<-[:ABOUT]-(d:Document) RETURN {title: d.title, lead: [(d)-[:HAS_PASSAGE]->(p {ordinal: 0}) | left(p.text, 200)][0]} } AS titles,
       COLLECT { MATCH (e)<-[:ABOUT]-(p:Passage) RETURN {section: p.section, text: p.text} } AS headings,
       COLLECT { MATCH (e)<-[:SUBJECT]-(t:Triple) RETURN t.subject } + COLLECT { MATCH (e)<-[:OBJECT]-(t:Triple) RETURN t.object } AS facts,
       COLLECT { WITH e WHERE e.named IS NULL MATCH (e)<-[m:MENTIONS]-() WHERE m.wikipedia IS NOT NULL RETURN DISTINCT m.wikipedia } AS articles,
       COLLECT { WITH e WHERE e.named IS NULL MATCH (e)<-[:MENTIONS]-(p:Passage) RETURN p.id ORDER BY p.id } AS passages
