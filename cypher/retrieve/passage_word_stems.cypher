// The stems of all words of passages.
// mode: read
// $ids: LIST<STRING> - passage ids
// -> rows: LIST<LIST<STRING>> - [passage id, the stem of each word of its title, text and headings, in their order, and its symbols, between spaces]
UNWIND $ids AS id
MATCH (p:Kgrag:Passage {id: id})
RETURN collect([id, p.stems]) AS rows
