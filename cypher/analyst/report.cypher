// title: Topics: what a summary or report rests on
// The passages that a community's report or a summary rests on, those that fit it best first.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $about: STRING = '' - beginning of the name of a community or summary
// $limit: INTEGER = 25 - rows wanted
// -> topic: STRING - the community or summary
// -> document: STRING - title of the document
// -> passage: STRING - the passage
// -> weight: FLOAT - how well it fits, from 0 to 1
// -> path: PATH - from the topic to the passage, to be drawn
CALL () {
  MATCH (n:Community {collection: $collection}) WHERE n.name STARTS WITH $about
  RETURN n
  UNION
  MATCH (n:Summary {collection: $collection}) WHERE n.name STARTS WITH $about
  RETURN n
}
MATCH path = (n)-[r:SUMMARISES]->(p:Passage)<-[:HAS_PASSAGE]-(d:Document)
RETURN n.name AS topic, d.name AS document, p.text AS passage, r.weight AS weight, path
ORDER BY weight DESC, topic, p.id LIMIT toInteger($limit)
