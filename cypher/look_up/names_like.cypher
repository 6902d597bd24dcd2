// Names that have some words, the last of which may be only begun: those with the very words first, then those of most
// passages.
// mode: read
// $index: STRING - full-text index of the names
// $query: STRING - the words, as a Lucene query
// $reach: INTEGER - names that are looked at
// $limit: INTEGER - names wanted
// -> name: STRING - the name as it is written
// -> passages: INTEGER - passages that mention it
CALL db.index.fulltext.queryNodes($index, $query, {limit: $reach}) YIELD node AS e, score
RETURN e.name AS name, e.df AS passages ORDER BY score DESC, passages DESC, name LIMIT $limit
