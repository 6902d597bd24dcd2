// title: Entities: how two are connected
// The shortest paths between two entities over passages, titles and triples, of at most eight edges: over any names, over
// names of at most $cap passages, of a fifth of these, and of several words. Paths over whole names come first: names that
// are not part of longer ones (John in John Ritter), and single words only as places ("in Quebec", not "American poet" or
// "Mary"). Then come shorter paths, and paths over rarer names. To be drawn.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $entity: STRING = 'Roald Amundsen' - name of the one
// $other: STRING = 'Colin Archer' - name of the other
// $cap: INTEGER = 50 - passages that a name may have to lead on
// $limit: INTEGER = 25 - paths wanted
// -> path: PATH - a path
// -> steps: LIST<STRING> - the names along it
// -> passages: LIST<STRING> - for each node the id of a passage that says it: the first of a document, null of an entity
MATCH (c:Kgrag:Collection {id: $collection})
UNWIND [$entity, $other] AS wanted
CALL (c, wanted) {
  CALL db.index.fulltext.queryNodes('entity_name_c' + c.number, '"' + replace(wanted, '"', ' ') + '"', {limit: 20}) YIELD node AS e, score
  RETURN e ORDER BY toLower(e.name) = toLower(wanted) DESC, score DESC, e.df DESC LIMIT 1
}
WITH collect(e) AS ends
WITH ends[0] AS a, ends[1] AS b WHERE a <> b
UNWIND [1e9, $cap, $cap / 5.0, -1e9] AS most
CALL (a, b, most) {
  MATCH path = allShortestPaths((a)-[:MENTIONS|ABOUT|HAS_PASSAGE|STATES|SUBJECT|OBJECT*..8]-(b))
  WHERE all(n IN nodes(path) WHERE coalesce(n.df, 0) <= abs(most) AND (most > 0 OR n.name CONTAINS ' ' OR NOT n:Entity) OR n IN [a, b])
  RETURN path LIMIT 1000
}
WITH DISTINCT path
WITH path, reduce(sum = 0.0, n IN nodes(path) | sum + log(coalesce(n.df, 0) + 1)) AS common ORDER BY common LIMIT toInteger(8 * $limit)
CALL (path) {
  UNWIND relationships(path)[1..-1] AS m
  MATCH (p:Passage)-[m]->(n:Entity)
  WITH m, p, '\\b(?i:\\Q' + replace(n.name, '\\E', ' ') + '\\E)\\b(?![ -]\\p{Lu})' AS name, n.name =~ '.+[\\p{Lu}\\d\\s].*' AS sure
  WHERE NOT p.title + '. ' + p.text =~ '(?s).*' + CASE
    WHEN sure THEN '(?<!\\b\\p{Lu}\\p{L}{0,20}[ -])' + name
    ELSE '\\b(?:at|from|in|near) ' + name + '(?! (?!(?:after|and|as|at|before|by|for|from|in|is|on|or|to|was|where|which|with)\\b)\\p{L})'
  END + '.*'
  RETURN count(m) AS parts
}
WITH path ORDER BY parts, length(path), common, [n IN nodes(path) | n.id] LIMIT toInteger($limit)
RETURN path, [n IN nodes(path) | n.name] AS steps, [n IN nodes(path) | CASE
  WHEN n:Passage THEN n.id
  WHEN n:Triple THEN head(COLLECT { MATCH (n)<-[:STATES]-(p:Passage) RETURN p.id ORDER BY p.id LIMIT 1 })
  WHEN n:Document THEN head(COLLECT { MATCH (n)-[:HAS_PASSAGE]->(p:Passage) RETURN p.id ORDER BY p.ordinal LIMIT 1 })
END] AS passages
