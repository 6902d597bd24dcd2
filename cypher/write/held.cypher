// Passages keep the times of their facts, so that filters need not look at facts: the first and the last day that the dates
// leave open, and the subject. A fact that the beginning of another one ends does not hold on that day.
// mode: write
// $ids: LIST<STRING> - ids of subjects; empty: all of the collection
// $collection: STRING - name of the collection, or empty
CALL () {
  UNWIND $ids AS id
  MATCH (s:Kgrag:Entity {id: id})
  RETURN s
  UNION ALL
  MATCH (s:Entity {collection: $collection}) WHERE s.types IS NOT NULL
  RETURN s
}
MATCH (s)-[r]->(:Entity) WHERE r.facts IS NOT NULL AND (r.valid_from IS NOT NULL OR r.valid_to IS NOT NULL)
WITH s, r, coalesce(r.valid_from, '') AS since, coalesce(r.valid_to, '') AS until
WITH r, since + substring('0000-01-01', size(since)) + '/' + CASE WHEN r.ended_by IS NOT NULL AND size(until) = 10
  THEN toString(date(until) - duration({days: 1})) ELSE until + substring('9999-12-31', size(until)) END + ' ' + s.id AS time
UNWIND r.passages AS id
MATCH (p:Kgrag:Passage {id: id})
SET p.held = COLLECT { UNWIND coalesce(p.held, []) + [time] AS x RETURN DISTINCT x ORDER BY x }
