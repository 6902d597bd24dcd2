// The passages of a list whose documents pass a filter.
// mode: read
// $ids: LIST<STRING> - passage ids
// $where: LIST<LIST<ANY>> = [] - [metadata key, values]: the document has one of these texts, numbers or booleans under the key
// $between: LIST<LIST<ANY>> = [] - [metadata key, least, most], the ends both numbers or both texts
// $source: STRING = '' - part of the document's source; empty: any
// $since: DATETIME - documents that are dated at or after this time; those without a date by their ingest
// $day: STRING = '' - the same as documents are dated: a day as it stands, a moment with an offset in UTC; empty: of any time
// $lapsed: LIST<STRING> = [] - passages that do not pass in any case: see `look_up/lapsed`
// -> ids: LIST<STRING> - ids of those that pass
UNWIND $ids AS id
MATCH (d:Document)-[:HAS_PASSAGE]->(:Passage {id: id})
WHERE all(one IN $where WHERE any(value IN [] + d['meta_' + one[0]] WHERE value IN one[1]))
  AND all(one IN $between WHERE any(value IN [] + d['meta_' + one[0]] WHERE one[1] <=
    CASE WHEN one[1] IS :: FLOAT NOT NULL THEN toFloatOrNull(CASE WHEN toString(value) =~ '\\d{4}-\\d\\d.*' THEN left(toString(value), 4) ELSE toString(value) END) ELSE toString(value) END <= one[2]))
  AND ($source = '' OR d.source CONTAINS $source)
  AND ($day = '' OR CASE WHEN d.dated IS NULL THEN d.updated >= $since ELSE d.dated >= $day END)
  AND NOT id IN $lapsed
RETURN collect(id) AS ids
