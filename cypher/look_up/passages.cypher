// Passages by their ids, with the properties of their documents that readers see.
// mode: read
// $ids: LIST<STRING> - passage ids
// -> rows: LIST<MAP> - {id, passage ({title, text, ordinal, section, page, last_page, figures}), document (its properties but for the time of its ingest)}
UNWIND $ids AS id
MATCH (d:Document)-[:HAS_PASSAGE]->(p:Kgrag:Passage {id: id})
RETURN collect({id: id, passage: p {.title, .text, .ordinal, .section, .page, .last_page, figures: [(p)-[:REFERS_TO]->(f:Figure) | f {.id, .number, caption: f.name, .page, .width, .height, .media_type}]}, document: d {.*, updated: null}}) AS rows
