// Titles, headings and texts of passages, of those whose words were counted already.
// mode: read
// $ids: LIST<STRING> - passage ids
// -> title: STRING - title
// -> section: STRING - path of headings
// -> text: STRING - text
UNWIND $ids AS id
MATCH (p:Kgrag:Passage {id: id})
WHERE NOT 'words' IN coalesce(p.todo, [])
RETURN p.title AS title, p.section AS section, p.text AS text
