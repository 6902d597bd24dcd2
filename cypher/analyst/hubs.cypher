// title: Entities: hubs
// The entities that most passages mention (two at least), with the documents they are the title of and the triples about them.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $limit: INTEGER = 25 - rows wanted
// -> name: STRING - the name
// -> passages: INTEGER - passages that mention it
// -> share: FLOAT - of all passages, in percent
// -> titles: INTEGER - documents with this title
// -> triples: INTEGER - triples about it
MATCH (c:Kgrag:Collection {id: $collection})
MATCH (e:Entity {collection: $collection}) WHERE e.df > 1
WITH c, e ORDER BY e.df DESC, e.name LIMIT toInteger($limit)
RETURN e.name AS name, e.df AS passages, round(100.0 * e.df / c.passages, 1) AS share, e.ntit AS titles,
       COUNT { (e)<-[:SUBJECT|OBJECT]-() } AS triples
ORDER BY passages DESC, name
