// Titles, headings and texts of passages.
// mode: read
// $ids: LIST<STRING> - passage ids
// -> id: STRING - passage id
// -> title: STRING - title
// -> section: STRING - path of headings
// -> text: STRING - text
UNWIND $ids AS id
MATCH (p:Kgrag:Passage {id: id})
RETURN id, p.title AS title, p.section AS section, p.text AS text
