// Every collection, or the one of that name.
// mode: read
// $name: STRING = null - name of the collection, or null for all
// -> collection: MAP - its properties
MATCH (c:Collection) WHERE $name IS NULL OR c.name = $name
RETURN properties(c) AS collection ORDER BY c.name
