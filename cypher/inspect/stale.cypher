// Reports on communities that a language model wrote and that rest on something else by now.
// mode: read
// $collection: STRING - name of the collection
// $limit: INTEGER - examples wanted
// -> number: INTEGER - how many
// -> examples: LIST<STRING> - names of some
MATCH (c:Community {collection: $collection})
WHERE c.stale
WITH c ORDER BY c.size DESC, c.id
WITH collect(c.name) AS names
RETURN size(names) AS number, names[..toInteger($limit)] AS examples
