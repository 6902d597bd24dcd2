// Dense among the documents that pass a filter: only the nearest candidates are looked at, so some may be missed.
// mode: read
// $index: STRING - the collection's vector index
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds the vector
// $vector: LIST<FLOAT> - the question's vector
// $candidates: INTEGER = 1000 - over-fetch
// $limit: INTEGER = 10 - rows wanted
// $where: LIST<LIST<ANY>> = [] - [metadata key, values]: the document has one of these texts, numbers or booleans under the key
// $between: LIST<LIST<ANY>> = [] - [metadata key, least, most], the ends both numbers or both texts
// $source: STRING = '' - part of the document's source; empty: any
// $since: DATETIME - documents that are dated at or after this time; those without a date by their ingest
// $day: STRING = '' - the same as documents are dated: a day as it stands, a moment with an offset in UTC; empty: of any time
// $as_of: STRING = '' - a date such as 1912-03: passages with facts of that time, or without dates; empty: all
// $scanned: INTEGER = 100000 - passages of a collection that may be scanned in place of an unsure index
// -> hits: LIST<LIST<ANY>> - [passage id, (1 + cosine) / 2]
// -> unsure: BOOLEAN - whether the index may be blind: it gives fewer than it has, or as in `retrieve/vector`
CALL db.index.vector.queryNodes($index, $candidates, $vector) YIELD node
WITH node, vector.similarity.cosine(node[$embedding], $vector) AS score
WITH collect([node, score]) AS top, count(DISTINCT round(score, 4)) AS apart
CALL (top) {
  UNWIND top AS one
  WITH one[0] AS node, one[1] AS score
  MATCH (d:Document)-[:HAS_PASSAGE]->(node)
  WHERE all(one IN $where WHERE any(value IN [] + d['meta_' + one[0]] WHERE value IN one[1]))
    AND all(one IN $between WHERE any(value IN [] + d['meta_' + one[0]] WHERE one[1] <=
      CASE WHEN one[1] IS :: FLOAT NOT NULL THEN toFloatOrNull(CASE WHEN toString(value) =~ '\\d{4}-\\d\\d.*' THEN left(toString(value), 4) ELSE toString(value) END) ELSE toString(value) END <= one[2]))
    AND ($source = '' OR d.source CONTAINS $source)
    AND ($day = '' OR CASE WHEN d.dated IS NULL THEN d.updated >= $since ELSE d.dated >= $day END)
    AND ($as_of = '' OR node.held IS NULL OR any(x IN node.held WHERE left(x, 10) <= $as_of + substring('0000-12-31', size($as_of))
    AND substring(x, 11, 10) >= $as_of + substring('0000-01-01', size($as_of))))
  WITH node.id AS id, score
  ORDER BY score DESC, id LIMIT $limit
  RETURN collect([id, score]) AS hits
}
OPTIONAL MATCH (c:Kgrag:Collection {id: $collection})
RETURN hits,
       coalesce(size(top) < c.passages AND c.passages <= $scanned, false)
         AND (size(top) < $candidates OR 2 * apart < size(top)) AS unsure
