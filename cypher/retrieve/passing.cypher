// The passages of a list whose documents pass a filter.
// mode: read
// $ids: LIST<STRING> - passage ids
// $where: LIST<LIST<ANY>> = [] - [metadata key, values]: the document has one of these texts, numbers or booleans under the key
// $between: LIST<LIST<ANY>> = [] - [metadata key, least, most], the ends both numbers or both texts
// $source: STRING = '' - part of the document's source; empty: any
// $since: DATETIME - documents that are dated at or after this time; those without a date by their ingest
// $day: STRING = '' - the same as documents are dated: a day as it stands, a moment with an offset in UTC; empty: of any time
// $as_of: STRING = '' - a date such as 1912-03: passages with facts of that time, or without dates; empty: all
// -> ids: LIST<STRING> - ids of the passing passages
UNWIND $ids AS id
MATCH (d:Document)-[:HAS_PASSAGE]->(p:Kgrag:Passage {id: id})
WHERE all(one IN $where WHERE any(value IN [] + d['meta_' + one[0]] WHERE value IN one[1]))
  AND all(one IN $between WHERE any(value IN [] + d['meta_' + one[0]] WHERE one[1] <=
    CASE WHEN one[1] IS :: FLOAT NOT NULL THEN toFloatOrNull(CASE WHEN toString(value) =~ '\\d{4}-\\d\\d.*' THEN left(toString(value), 4) ELSE toString(value) END) ELSE toString(value) END <= one[2]))
  AND ($source = '' OR d.source CONTAINS $source)
  AND ($day = '' OR CASE WHEN d.dated IS NULL THEN d.updated >= $since ELSE d.dated >= $day END)
  AND ($as_of = '' OR p.held IS NULL OR any(x IN p.held WHERE left(x, 10) <= $as_of + substring('0000-12-31', size($as_of))
    AND substring(x, 11, 10) >= $as_of + substring('0000-01-01', size($as_of))))
RETURN collect(id) AS ids
