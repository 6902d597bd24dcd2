// Those of some passages whose documents pass a filter.
// mode: read
// $ids: LIST<STRING> - passage ids
// $where: MAP = {} - metadata key -> what the value, or one of a list, is to be: one of a list of texts, numbers and booleans
// $between: MAP = {} - metadata key -> [least, most]: both numbers, or both texts
// $source: STRING = null - part of the document's source
// $since: DATETIME = null - documents that are dated at or after this time; those without a date by their ingest
// $day: STRING = null - the same as a date or moment without zone, as documents are dated
// $lapsed: LIST<STRING> = [] - passages that do not pass in any case: see `look_up/lapsed`
// -> ids: LIST<STRING> - ids of those that pass
UNWIND $ids AS id
MATCH (d:Document)-[:HAS_PASSAGE]->(:Passage {id: id})
WHERE all(key IN keys($where) WHERE any(value IN [] + d['meta_' + key] WHERE value IN $where[key]))
  AND all(key IN keys($between) WHERE any(value IN [] + d['meta_' + key] WHERE $between[key][0] <=
    CASE WHEN $between[key][0] IS :: FLOAT NOT NULL THEN toFloatOrNull(toString(value)) ELSE toString(value) END <= $between[key][1]))
  AND ($source IS NULL OR d.source CONTAINS $source)
  AND ($since IS NULL OR CASE WHEN d.dated IS NULL THEN d.updated >= $since ELSE d.dated >= $day END)
  AND NOT id IN $lapsed
RETURN collect(id) AS ids
