// The entities of a collection by how many passages mention them and how many triples they are an end of.
// mode: read
// $collection: STRING - name of the collection
// -> mentions: INTEGER - passages that mention such an entity
// -> triples: INTEGER - triples that it is subject or object of
// -> number: INTEGER - how many entities are like that
MATCH (e:Entity {collection: $collection})
RETURN COUNT { (e)<-[:MENTIONS]-() } AS mentions, COUNT { (e)<-[:SUBJECT]-() } + COUNT { (e)<-[:OBJECT]-() } AS triples,
       count(*) AS number
