// Passages of a collection whose text other passages have, too: the copies, and some of the texts.
// mode: read
// $collection: STRING - name of the collection
// $limit: INTEGER = 5 - examples wanted
// -> number: INTEGER - passages whose text one before them has
// -> examples: LIST<STRING> - title and id of one that has it, and how often it is there, the most frequent first
MATCH (p:Passage {collection: $collection})
WITH p.text AS text, count(*) AS copies, min([p.title, left(p.id, 8)]) AS first
WHERE copies > 1
WITH copies, first ORDER BY copies DESC, first
RETURN coalesce(sum(copies - 1), 0) AS number,
       collect(first[0] + ' ' + first[1] + ' (' + toString(copies) + ' times)')[..$limit] AS examples
