// Those of some passages whose documents pass a filter.
// mode: read
// $ids: LIST<STRING> - passage ids
// $where: MAP = {} - metadata key -> value as text
// $source: STRING = null - part of the document's source
// $since: DATETIME = null - documents written at or after this time
// -> ids: LIST<STRING> - ids of those that pass
UNWIND $ids AS id
MATCH (d:Document)-[:HAS_PASSAGE]->(:Passage {id: id})
WHERE all(key IN keys($where) WHERE toString(d['meta_' + key]) = $where[key])
  AND ($source IS NULL OR d.source CONTAINS $source)
  AND ($since IS NULL OR d.updated >= $since)
RETURN collect(id) AS ids
