// The communities of a collection, the coarsest first.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - community id
// -> level: INTEGER - its level, 0 for the coarsest
// -> parent: STRING - id of the community that it is a part of, null of the coarsest
// -> laid: STRING - hash of its members, passages and place
// -> rests_on: STRING - hash of what its report was made from, null without a report
// -> made: STRING - what made its report
// -> stale: BOOLEAN - whether its report rests on something else by now
MATCH (c:Community {collection: $collection})
RETURN c.id AS id, c.level AS level, head([(c)-[:PART_OF]->(p) | p.id]) AS parent, c.laid AS laid,
       c.rests_on AS rests_on, c.made AS made, coalesce(c.stale, false) AS stale
ORDER BY level, id
