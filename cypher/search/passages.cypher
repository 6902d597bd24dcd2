// Passages by their ids, with what a reader wants to know of their documents.
// mode: read
// $ids: LIST<STRING> - passage ids
// -> id: STRING - passage id
// -> passage: MAP - title, text, ordinal, section
// -> document: MAP - properties of the document
UNWIND $ids AS id
MATCH (d:Document)-[:HAS_PASSAGE]->(p:Passage {id: id})
RETURN id, p {.title, .text, .ordinal, .section} AS passage, properties(d) AS document
