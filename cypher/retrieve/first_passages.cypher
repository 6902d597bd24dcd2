// Passages of a collection, at most so many; their ids are hashes, so that the first ones are as good as drawn at random.
// mode: read
// $collection: STRING - name of the collection
// $limit: INTEGER - how many at most
// -> ids: LIST<STRING> - passage ids
MATCH (p:Passage {collection: $collection}) WHERE p.ordinal IS NOT NULL
WITH p.id AS id ORDER BY id LIMIT $limit
RETURN collect(id) AS ids
