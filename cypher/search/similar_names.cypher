// Every SIMILAR edge between the entities of a collection.
// mode: read
// $collection: STRING - name of the collection
// -> entity: STRING - entity id
// -> neighbours: LIST<STRING> - ids of its neighbours
MATCH (e:Entity {collection: $collection}) WHERE EXISTS { (e)-[:SIMILAR]->() }
RETURN e.id AS entity, [(e)-[:SIMILAR]->(f) | f.id] AS neighbours ORDER BY entity
