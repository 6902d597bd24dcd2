// The entities that communities are made of: named by a title or a fact, or by several passages.
// mode: read
// $collection: STRING - name of the collection
// -> element: STRING - element id
// -> id: STRING - entity id
// -> name: STRING - its name
// -> df: INTEGER - passages that mention it
// -> same: LIST<STRING> - element ids of its other names
// -> community: STRING - id of its own community, null without one
MATCH (e:Entity {collection: $collection})
WHERE e.named OR e.df > 1
RETURN elementId(e) AS element, e.id AS id, e.name AS name, coalesce(e.df, 0) AS df,
       [(e)-[:SAME_AS]->(f:Entity) | elementId(f)] AS same,
       head([(e)-[:IN_COMMUNITY]->(c:Community) | c.id]) AS community
ORDER BY e.normal
