// Every SIMILAR edge of a collection.
// mode: read
// $collection: STRING - name of the collection
// -> passage: STRING - passage id
// -> neighbours: LIST<STRING> - ids of its neighbours
MATCH (p:Passage {collection: $collection})
RETURN p.id AS passage, [(p)-[:SIMILAR]->(q) | q.id] AS neighbours ORDER BY passage
