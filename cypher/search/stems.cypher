// The stems of passages, for those whose words were counted already.
// mode: read
// $ids: LIST<STRING> - passage ids
// -> stems: LIST<STRING> - stems in order
UNWIND $ids AS id
MATCH (p:Passage {id: id})
WHERE NOT 'words' IN coalesce(p.todo, [])
RETURN p.stems AS stems
