// Short names of a collection that most passages mention, of those in its first passages and their titles.
// mode: read
// $collection: STRING - name of the collection
// $reach: INTEGER - passages that are looked at
// $longest: INTEGER - characters of a name
// $limit: INTEGER - names wanted
// -> name: STRING - the name
// -> text: STRING - how the document begins that bears it as its title; null where none does
MATCH (p:Passage {collection: $collection})
WITH p LIMIT $reach
CALL (p) {
  MATCH (p)-[:MENTIONS]->(e:Entity) RETURN e
  UNION
  MATCH (p)<-[:HAS_PASSAGE]-(:Document)-[:ABOUT]->(e:Entity) RETURN e
}
WITH e
WHERE size(e.name) <= $longest AND e.name =~ '[\\p{Lu}\\p{Lo}].*'
WITH DISTINCT e ORDER BY e.df DESC, e.name LIMIT $limit
RETURN e.name AS name, head(COLLECT {
  MATCH (e)<-[a:ABOUT]-(:Document)-[:HAS_PASSAGE]->(p:Passage) WHERE a.weight >= 1
  RETURN left(p.text, 400) ORDER BY p.ordinal LIMIT 1
}) AS text
