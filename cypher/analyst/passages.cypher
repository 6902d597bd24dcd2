// title: Passages: by their words
// Full-text search (BM25) over titles and texts, English stemming.
// mode: read
// $collection: STRING = 'default' - name of the collection
// $query: STRING = 'ship polar ice' - words, or any Lucene query: title:Fram AND "north pole"
// $limit: INTEGER = 25 - rows wanted
// -> score: FLOAT - BM25 score
// -> title: STRING - title
// -> text: STRING - the passage
// -> passage: NODE - the same, to be drawn
MATCH (c:Kgrag:Collection {id: $collection})
CALL db.index.fulltext.queryNodes('passage_text_c' + c.number, $query, {limit: toInteger($limit)}) YIELD node AS p, score
RETURN round(score, 2) AS score, p.name AS title, p.text AS text, p AS passage ORDER BY score DESC, title
