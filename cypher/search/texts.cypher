// Titles and texts of passages.
// mode: read
// $ids: LIST<STRING> - passage ids
// -> id: STRING - passage id
// -> title: STRING - title
// -> text: STRING - text
UNWIND $ids AS id
MATCH (p:Passage {id: id})
RETURN id, p.title AS title, p.text AS text
