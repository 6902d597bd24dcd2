// title: Collection: its schema, an example of each edge
// One example of each kind of edge that a collection has, between the labels that it joins: the schema as a picture,
// without the edges of a schema of facts. `kgrag cypher "MATCH (s:Schema) RETURN s"` says what each label and edge means.
// mode: read
// each: edges
// scan: it reads every collection to find one by its name
// $collection: STRING = 'default' - name of the collection
// -> path: PATH - the example, to be drawn
CALL () {
  MATCH path = (:{start} {collection: $collection})-[:{type}]->(:{end}) RETURN path LIMIT 1
}
RETURN path
