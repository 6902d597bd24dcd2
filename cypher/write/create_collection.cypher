// Make a collection with the next free number, unless it exists; the Schema node's lock keeps two writers apart. It takes
// the number and the indexes of a removed collection whose vectors were as long, or such that were made ahead, if there are
// any; else it reserves the numbers of others, whose indexes its maker makes ahead.
// mode: write
// $name: STRING - name of the collection
// $properties: MAP - embedder, dimension, embedding, settings and language, and what else it has
// $unused_seconds: FLOAT - how long that collection must have been removed
// $ahead: INTEGER - how many numbers are reserved
// -> ahead: LIST<INTEGER> - these; no row when the collection was there
MATCH (s:Kgrag:Schema {id: 'kgrag/schema'})
SET s.touched = datetime()
WITH s
WHERE NOT EXISTS { (:Kgrag:Collection {id: $name}) }
WITH s, head([x IN coalesce(s.spare_indexes, []) WHERE $properties.embedding <> 'embedding_b'
              AND x STARTS WITH toString($properties.dimension) + ' '
              AND toInteger(split(x, ' ')[2]) <= timestamp() - 1000 * $unused_seconds]) AS spare
WITH s, spare, split(spare, ' ') AS parts
SET s.collections = s.collections + CASE WHEN spare IS NULL THEN 1 + $ahead ELSE 0 END,
    s.spare_indexes = [x IN coalesce(s.spare_indexes, []) WHERE spare IS NULL OR x <> spare]
CREATE (c:Kgrag:Collection {id: $name, name: $name})
SET c.schema_version = s.version, c.created = datetime(), c.passages = 0, c += $properties, c.collection = $name,
    c.number = coalesce(toInteger(parts[1]), s.collections - $ahead), c.indexed = coalesce(parts[3..], [])
RETURN CASE WHEN spare IS NULL THEN range(c.number + 1, s.collections) ELSE [] END AS ahead
