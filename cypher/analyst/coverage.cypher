// title: Passages: how many names they mention
// The number of passages by the number of names that they mention, and by the number of names shared with other passages.
// mode: read
// $collection: STRING = 'default' - name of the collection
// -> names: STRING - how many names
// -> passages: INTEGER - passages that mention so many
// -> share: FLOAT - of all, in percent
// -> tokens: INTEGER - their mean length
MATCH (c:Kgrag:Collection {id: $collection})
MATCH (p:Passage {collection: $collection})
WITH c, p.tokens AS tokens, COUNT { (p)-[:MENTIONS]->() } AS mentions
WITH c, tokens, CASE WHEN mentions < 3 THEN mentions WHEN mentions < 5 THEN 3 WHEN mentions < 10 THEN 5 WHEN mentions < 20 THEN 10 WHEN mentions < 50 THEN 20 ELSE 50 END AS least
WITH c, least, count(*) AS passages, avg(tokens) AS tokens
RETURN CASE least WHEN 3 THEN '3-4' WHEN 5 THEN '5-9' WHEN 10 THEN '10-19' WHEN 20 THEN '20-49' WHEN 50 THEN '50 or more' ELSE toString(least) END AS names,
       passages, round(100.0 * passages / c.passages, 1) AS share, toInteger(round(tokens)) AS tokens
ORDER BY least
