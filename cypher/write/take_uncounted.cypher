// Remove the mark of the words stage from passages, and return the texts of the marked ones.
// mode: write
// $ids: LIST<STRING> - passage ids
// -> title: STRING - title
// -> section: STRING - path of headings
// -> text: STRING - text
UNWIND $ids AS id
MATCH (p:Kgrag:Passage {id: id})
SET p.id = id // the lock: another client may count it meanwhile
WITH p WHERE 'words' IN coalesce(p.todo, [])
WITH p, [stage IN p.todo WHERE stage <> 'words'] AS todo
SET p.todo = CASE WHEN size(todo) > 0 THEN todo END
RETURN p.title AS title, p.section AS section, p.text AS text
