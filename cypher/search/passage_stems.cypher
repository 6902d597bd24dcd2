// The stems of passages, in order.
// mode: read
// $ids: LIST<STRING> - passage ids
// -> id: STRING - passage id
// -> stems: LIST<STRING> - stems
UNWIND $ids AS id
MATCH (p:Passage {id: id})
RETURN id, p.stems AS stems
