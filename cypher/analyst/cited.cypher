// title: Runs: the passages that they cite
// The passages that kept answers cite most often, and how many of them found it at all.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $limit: INTEGER = 25 - rows wanted
// -> title: STRING - title of the passage
// -> cited: INTEGER - answers that cite it
// -> found: INTEGER - answers whose ranking held it
// -> questions: LIST<STRING> - questions that it answered
// -> path: PATH - run and passage, to be drawn
MATCH path = (r:Run {collection: $collection})-[:CITES]->(p:Passage)
WITH p, collect(DISTINCT r.name) AS questions, count(DISTINCT r) AS cited, head(collect(path)) AS path
ORDER BY cited DESC, p.id LIMIT toInteger($limit)
RETURN p.name AS title, cited, COUNT { (p)<-[:FOUND]-() } AS found, questions, path ORDER BY cited DESC, title
