// Figures of a collection: those of a document, or one by its id.
// mode: read
// $collection: STRING - name of the collection
// $key: STRING = '' - key of the document; empty: not by that
// $id: STRING = '' - id of a figure; empty: not by that
// -> figure: MAP - {id, number, name, caption, page, box, width, height, media_type, sha, description}
// -> passages: INTEGER - how many refer to it
CALL () {
  WITH $key AS key WHERE key <> ''
  MATCH (:Document {collection: $collection, key: key})-[:SHOWS|HAS_PAGE*1..2]->(f:Figure)
  RETURN f
  UNION
  WITH $id AS id WHERE id <> ''
  MATCH (f:Figure {id: id}) WHERE f.collection = $collection
  RETURN f
}
RETURN f {.id, .number, .name, .caption, .page, .box, .width, .height, .media_type, .sha, .description} AS figure, COUNT { (f)<-[:REFERS_TO]-() } AS passages
ORDER BY f.number
