// The texts of passages or summaries, to be summed up.
// mode: read
// label: embedded
// $ids: LIST<STRING> - node ids
// -> id: STRING - node id
// -> title: STRING - title
// -> text: STRING - text
// -> terms: LIST<STRING> - keywords of a passage; terms of a summary's name
UNWIND $ids AS id
MATCH (n:Kgrag:{label} {id: id})
RETURN id, n.title AS title, n.text AS text,
       CASE WHEN n:Passage THEN [(n)-[:HAS_KEYWORD]->(k:Keyword) | k.name] ELSE split(n.title, ', ') END AS terms
