// title: Entity: find it by its name
// Find entities by their names, as the other queries need them.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $name: STRING = 'amundsen~' - words of a name, or any Lucene query: amund*, amundson~ (misspelt)
// $limit: INTEGER = 25 - rows wanted
// -> name: STRING - the name as it is written
// -> passages: INTEGER - passages that mention it
// -> titles: INTEGER - documents with this title
// -> triples: INTEGER - triples about it
// -> aliases: LIST<STRING> - other names in the passages
// -> score: FLOAT - how well it fits
MATCH (c:Kgrag:Collection {id: $collection})
CALL db.index.fulltext.queryNodes('entity_name_c' + c.number, $name, {limit: toInteger($limit)}) YIELD node AS e, score
RETURN e.name AS name, e.df AS passages, e.ntit AS titles, COUNT { (e)<-[:SUBJECT|OBJECT]-() } AS triples,
       coalesce(e.aliases, []) AS aliases, score
ORDER BY score DESC, passages DESC, name
