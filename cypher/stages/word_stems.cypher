// The stems of words.
// mode: read
// $ids: LIST<STRING> - word ids
// -> id: STRING - word id
// -> stem: STRING - stem
UNWIND $ids AS id
MATCH (w:Kgrag:Word {id: id})
RETURN id, w.stem AS stem
