// The stems of all words of passages.
// mode: read
// $ids: LIST<STRING> - passage ids
// -> id: STRING - passage id
// -> stems: STRING - the stem of each word of its title and text, in their order, between spaces
UNWIND $ids AS id
MATCH (p:Passage {id: id})
RETURN id, p.stems AS stems
