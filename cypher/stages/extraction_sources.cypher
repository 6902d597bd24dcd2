// What triples are extracted from, and the documents it belongs to.
// mode: read
// $ids: LIST<STRING> - passage ids
// -> id: STRING - passage id
// -> document: STRING - the document's key
// -> title: STRING - title
// -> section: STRING - path of headings, or empty
// -> text: STRING - text
// -> table: STRING - id of the table whose rows it has, null for prose
UNWIND $ids AS id
MATCH (d:Document)-[:HAS_PASSAGE]->(p:Kgrag:Passage {id: id})
RETURN id, d.key AS document, p.title AS title, p.section AS section, p.text AS text, head([(p)-[:OF_TABLE]->(t) | t.id]) AS table
