// Note on a collection whether names of it are tied, so that searches of others need not look for ties.
// mode: write
// $collection: STRING - name of the collection
// $tied: BOOLEAN - whether there are ties
MATCH (c:Kgrag:Collection {id: $collection})
SET c.tied = CASE WHEN $tied THEN true END
