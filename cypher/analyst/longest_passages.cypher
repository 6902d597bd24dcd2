// title: Passages: the longest
// The passages of most tokens: what models read least well, and often a table or a list that was not cut.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $limit: INTEGER = 25 - rows wanted
// -> tokens: INTEGER - its length
// -> title: STRING - title
// -> section: STRING - headings that it stands under
// -> text: STRING - the passage
MATCH (p:Passage {collection: $collection})
WITH p ORDER BY p.tokens DESC, p.id LIMIT toInteger($limit)
RETURN p.tokens AS tokens, p.name AS title, p.section AS section, p.text AS text ORDER BY tokens DESC, title
