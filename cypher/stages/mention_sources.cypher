// The sources of mentions: texts, titles and the entities of the triples that a passage states.
// mode: read
// $ids: LIST<STRING> - passage ids
// -> id: STRING - passage id
// -> title: STRING - title
// -> section: STRING - path of headings
// -> text: STRING - text
// -> own: LIST<STRING> - entities that the document's title names
// -> stated: LIST<STRING> - subjects and objects of its triples, in normal form
UNWIND $ids AS id
MATCH (p:Kgrag:Passage {id: id})
RETURN id, p.title AS title, p.section AS section, p.text AS text,
       [(p)<-[:HAS_PASSAGE]-(:Document)-[:ABOUT]->(e:Entity) | e.id] AS own,
       [(p)-[:STATES]->(:Triple)-[:SUBJECT|OBJECT]->(e:Entity) | e.normal] AS stated
