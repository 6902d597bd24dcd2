// The summaries of a level.
// mode: read
// $collection: STRING - name of the collection
// $level: INTEGER - the level
// -> id: STRING - summary id
// -> rests_on: STRING - hash of the members that its text was made from
// -> made: STRING - what made its text
MATCH (s:Summary {collection: $collection})
WHERE s.level = $level
RETURN s.id AS id, s.rests_on AS rests_on, s.made AS made ORDER BY id
