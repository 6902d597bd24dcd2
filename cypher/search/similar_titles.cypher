// Entities that titles name and whose names look like a misspelt one.
// mode: read
// $index: STRING - the collection's index of entity names
// $query: STRING - Lucene query, each word with ~1
// $limit: INTEGER = 20 - rows wanted
// -> id: STRING - entity id
// -> name: STRING - its name
// -> normal: STRING - its normalised name
// -> ntit: INTEGER - titles that bear it
// -> df: INTEGER - passages that mention it
CALL db.index.fulltext.queryNodes($index, $query, {limit: 5 * $limit}) YIELD node AS e, score
WITH e, score WHERE e.ntit > 0
RETURN e.id AS id, e.name AS name, e.normal AS normal, e.ntit AS ntit, e.df AS df
ORDER BY score DESC, id LIMIT $limit
