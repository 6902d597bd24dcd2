// How many names the communities of a collection had when they were found.
// mode: read
// $collection: STRING - name of the collection
// -> names: INTEGER - names that were in one; 0: they are not found yet, or not all of them are written
MATCH (c:Kgrag:Collection {id: $collection})
RETURN coalesce(c.communities, 0) AS names
