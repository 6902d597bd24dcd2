// BM25 among the documents that pass a filter: every match is looked at, so no fitting passage is missed.
// mode: read
// $index: STRING - the collection's full-text index
// $query: STRING - Lucene query, special characters escaped
// $limit: INTEGER = 10 - rows wanted
// $embedding: STRING = '' - property that holds the vector; empty: no cosines
// $vector: LIST<FLOAT> = [] - the question's vector; empty: no cosines
// $where: LIST<LIST<ANY>> = [] - [metadata key, values]: the document has one of these texts, numbers or booleans under the key
// $between: LIST<LIST<ANY>> = [] - [metadata key, least, most], the ends both numbers or both texts
// $source: STRING = '' - part of the document's source; empty: any
// $since: DATETIME - documents that are dated at or after this time; those without a date by their ingest
// $day: STRING = '' - the same as documents are dated: a day as it stands, a moment with an offset in UTC; empty: of any time
// $lapsed: LIST<STRING> = [] - passages that do not pass in any case: see `look_up/lapsed`
// -> hits: LIST<LIST<ANY>> - [passage id, BM25 score, (1 + cosine) / 2 or null]
CALL db.index.fulltext.queryNodes($index, $query) YIELD node, score
MATCH (d:Document)-[:HAS_PASSAGE]->(node)
WHERE all(one IN $where WHERE any(value IN [] + d['meta_' + one[0]] WHERE value IN one[1]))
  AND all(one IN $between WHERE any(value IN [] + d['meta_' + one[0]] WHERE one[1] <=
    CASE WHEN one[1] IS :: FLOAT NOT NULL THEN toFloatOrNull(CASE WHEN toString(value) =~ '\\d{4}-\\d\\d.*' THEN left(toString(value), 4) ELSE toString(value) END) ELSE toString(value) END <= one[2]))
  AND ($source = '' OR d.source CONTAINS $source)
  AND ($day = '' OR CASE WHEN d.dated IS NULL THEN d.updated >= $since ELSE d.dated >= $day END)
  AND NOT node.id IN $lapsed
WITH node.id AS id, score, vector.similarity.cosine(node[$embedding], $vector) AS nearness ORDER BY score DESC, id LIMIT $limit
RETURN collect([id, score, nearness]) AS hits
