// title: Entities: passages of each (degree distribution)
// The degree distribution: entities by the number of passages that mention them, with their share of all mentions.
// mode: read
// $collection: STRING = 'default' - name of the collection
// -> passages: STRING - how many passages
// -> entities: INTEGER - entities with so many
// -> mentions: INTEGER - mentions of theirs
// -> example: STRING - the one with the most
MATCH (e:Entity {collection: $collection})
WITH e.df AS df, count(*) AS entities, min(e.name) AS name
WITH df, entities, name, CASE WHEN df > 0 THEN toInteger(floor(log(df) / log(2) + 1e-9)) ELSE -1 END AS class
ORDER BY df DESC
WITH class, sum(entities) AS entities, sum(entities * df) AS mentions, head(collect(name)) AS example
RETURN CASE WHEN class < 0 THEN 'none' WHEN class = 0 THEN '1' ELSE toString(toInteger(2 ^ class)) + '-' + toString(toInteger(2 ^ (class + 1)) - 1) END AS passages,
       entities, mentions, example
ORDER BY class
