// The words and the vector by which indexes find passages.
// mode: read
// $ids: LIST<STRING> - passage ids
// $embedding: STRING - property that holds the vector
// -> id: STRING - passage id
// -> stems: STRING - stems of title, headings and text
// -> title_stems: STRING - stems of the title
// -> vector: LIST<FLOAT> - vector
UNWIND $ids AS id
MATCH (p:Kgrag:Passage {id: id})
WHERE p[$embedding] IS NOT NULL
RETURN id, p.stems AS stems, coalesce(p.title_stems, '') AS title_stems, p[$embedding] AS vector
