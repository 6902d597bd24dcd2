// Personalised PageRank, exact: every pair of resembling names of a collection.
// mode: read
// $collection: STRING - name of the collection
// $same_as: BOOLEAN = true - whether names of one entity are among them
// -> one: STRING - element id of an entity
// -> other: STRING - element id of an entity with a similar name
// -> score: FLOAT - (1 + cosine) / 2 of the names; 1 for names of one entity
MATCH (e:Entity {collection: $collection})-[s:SIMILAR|SAME_AS]->(f:Entity) WHERE $same_as OR type(s) = 'SIMILAR'
RETURN elementId(e) AS one, elementId(f) AS other, CASE type(s) WHEN 'SAME_AS' THEN 1.0 ELSE s.score END AS score
