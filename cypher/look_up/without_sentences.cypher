// The passages that lack their sentences in stems, which older versions did not write.
// mode: read
// $limit: INTEGER - how many at most
// -> id: STRING - passage id
// -> title: STRING - title
// -> text: STRING - text
MATCH (p:Passage) WHERE p.sentences IS NULL
RETURN p.id AS id, p.title AS title, p.text AS text LIMIT $limit
