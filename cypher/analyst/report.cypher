// title: Topics: what a summary or report rests on
// The passages behind a community's report or a summary, also through the summaries below it, the best matches first.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $about: STRING = '' - beginning of the name of a community or summary
// $limit: INTEGER = 25 - rows wanted
// -> topic: STRING - the community or summary
// -> document: STRING - title of the document
// -> passage: STRING - the passage
// -> weight: FLOAT - how well it fits, from 0 to 1: the product of the steps to it
// -> path: PATH - from the topic to the passage, to be drawn
CALL () {
  MATCH (n:Community {collection: $collection}) WHERE n.name STARTS WITH $about
  RETURN n
  UNION
  MATCH (n:Summary {collection: $collection}) WHERE n.name STARTS WITH $about
  RETURN n
}
MATCH path = (n)-[steps:SUMMARISES*1..5]->(p:Passage)<-[:HAS_PASSAGE]-(d:Document)
WITH n, d, p, path, reduce(weight = 1.0, r IN steps | weight * r.weight) AS weight
ORDER BY weight DESC, length(path)
WITH n, d, p, head(collect(path)) AS path, max(weight) AS weight
RETURN n.name AS topic, d.name AS document, p.text AS passage, weight, path
ORDER BY weight DESC, topic, p.id LIMIT toInteger($limit)
