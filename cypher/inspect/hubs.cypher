// The entities of a collection that have most edges: mentions, or triples that they are an end of.
// mode: read
// $collection: STRING - name of the collection
// $limit: INTEGER = 5 - how many of each kind
// -> kind: STRING - mentions or triples
// -> name: STRING - name of the entity
// -> number: INTEGER - its edges of this kind
CALL () {
  MATCH (e:Entity {collection: $collection})
  WITH e, COUNT { (e)<-[:MENTIONS]-() } AS number WHERE number > 0
  ORDER BY number DESC, e.normal LIMIT $limit
  RETURN 'mentions' AS kind, e.name AS name, number
  UNION ALL
  MATCH (e:Entity {collection: $collection})
  WITH e, COUNT { (e)<-[:SUBJECT]-() } + COUNT { (e)<-[:OBJECT]-() } AS number WHERE number > 0
  ORDER BY number DESC, e.normal LIMIT $limit
  RETURN 'triples' AS kind, e.name AS name, number
}
RETURN kind, name, number
