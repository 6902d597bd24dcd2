// Passages of a collection whose text other passages have, too, by their text: how often, and one of them. A part of the
// texts at a time, by their length, so that the texts of millions need not be held at once.
// mode: read
// $collection: STRING - name of the collection
// $parts: INTEGER = 1 - of how many parts
// $part: INTEGER = 0 - the part that is wanted, counted from 0
// -> copies: INTEGER - passages that have this text
// -> title: STRING - title of one of them
// -> id: STRING - the beginning of its id
MATCH (p:Passage {collection: $collection}) WHERE size(p.text) % toInteger($parts) = $part
WITH p.text AS text, count(*) AS copies, min([p.title, left(p.id, 8)]) AS first
WHERE copies > 1
RETURN copies, first[0] AS title, first[1] AS id
