// BM25 among the documents that pass a filter. The best matches are looked at first, and more where those do not settle it.
// mode: read
// $collection: STRING - name of the collection
// $index: STRING - the collection's full-text index
// $query: STRING - Lucene query, special characters escaped
// $reach: INTEGER - how many matches are looked at
// $limit: INTEGER = 10 - rows wanted
// $embedding: STRING = '' - property that holds the vector; empty: no cosines
// $vector: LIST<FLOAT> = [] - the question's vector; empty: no cosines
// $where: LIST<LIST<ANY>> = [] - [metadata key, values]: the document has one of these texts, numbers or booleans under the key
// $between: LIST<LIST<ANY>> = [] - [metadata key, least, most], the ends both numbers or both texts
// $source: STRING = '' - part of the document's source; empty: any
// $since: DATETIME - documents that are dated at or after this time; those without a date by their ingest
// $day: STRING = '' - the same as documents are dated: a day as it stands, a moment with an offset in UTC; empty: of any time
// $as_of: STRING = '' - a date such as 1912-03: passages with facts of that time, or without dates; empty: all
// -> hits: LIST<LIST<ANY>> - [passage id, BM25 score, (1 + cosine) / 2 or null]
// -> complete: BOOLEAN - whether no other match can be among them; a removed passage may take the place of a match
CALL db.index.fulltext.queryNodes($index, $query, {limit: $reach}) YIELD node, score
WITH collect(node) AS nodes, collect(score) AS scores
CALL (nodes, scores) {
  UNWIND range(0, size(nodes) - 1) AS i
  WITH nodes[i] AS node, scores[i] AS score
  MATCH (d:Document)-[:HAS_PASSAGE]->(node)
  WHERE all(one IN $where WHERE any(value IN [] + d['meta_' + one[0]] WHERE value IN one[1]))
    AND all(one IN $between WHERE any(value IN [] + d['meta_' + one[0]] WHERE one[1] <=
      CASE WHEN one[1] IS :: FLOAT NOT NULL THEN toFloatOrNull(CASE WHEN toString(value) =~ '\\d{4}-\\d\\d.*' THEN left(toString(value), 4) ELSE toString(value) END) ELSE toString(value) END <= one[2]))
    AND ($source = '' OR d.source CONTAINS $source)
    AND ($day = '' OR CASE WHEN d.dated IS NULL THEN d.updated >= $since ELSE d.dated >= $day END)
    AND ($as_of = '' OR node.held IS NULL OR any(x IN node.held WHERE left(x, 10) <= $as_of + substring('0000-12-31', size($as_of))
      AND substring(x, 11, 10) >= $as_of + substring('0000-01-01', size($as_of))))
  WITH node, score ORDER BY score DESC, node.id LIMIT $limit
  RETURN collect([node.id, score, vector.similarity.cosine(node[$embedding], $vector)]) AS hits
}
RETURN hits, (size(hits) = $limit AND hits[-1][1] > scores[-1]) OR (size(nodes) < $reach
  AND NOT EXISTS { MATCH (c:Kgrag:Collection {id: $collection}) WHERE c.stale > 0 }) AS complete
