// Passages by their ids, with what a reader wants to know of their documents.
// mode: read
// $ids: LIST<STRING> - passage ids
// -> id: STRING - passage id
// -> passage: MAP - title, text, ordinal, section, page, last_page
// -> document: MAP - properties of the document
UNWIND $ids AS id
MATCH (d:Document)-[:HAS_PASSAGE]->(p:Passage {id: id})
RETURN id, p {.title, .text, .ordinal, .section, .page, .last_page} AS passage, properties(d) AS document
