// title: Passages: without names, or with few
// The passages that mention the fewest names, those without any first: walks from name to name do not reach them.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $mentions: INTEGER = 10 - names that a passage has at most
// $limit: INTEGER = 25 - rows wanted
// -> mentions: INTEGER - names that it mentions
// -> title: STRING - title of the passage
// -> tokens: INTEGER - its length
// -> text: STRING - the passage
MATCH (p:Passage {collection: $collection})
WITH p, COUNT { (p)-[:MENTIONS]->() } AS mentions WHERE mentions <= $mentions
WITH p, mentions ORDER BY mentions, p.id LIMIT toInteger($limit)
RETURN mentions, p.name AS title, p.tokens AS tokens, p.text AS text ORDER BY mentions, title
