// Ask for a job, and forget the oldest ones that have ended where there are too many.
// mode: write
// $id: STRING - job id
// $properties: MAP - name, collection, kind, parameters, owner
// $seconds: INTEGER - for which it waits
// $kept: INTEGER - how many jobs are kept
// -> job: MAP - its properties
CREATE (j:Kgrag:Job {id: $id})
SET j += $properties, j.state = 'queued', j.stage = '', j.done = 0, j.attempt = 0, j.died = 0, j.created = datetime.realtime(),
    j.begins = CASE WHEN $seconds > 0 THEN datetime.realtime() + duration({seconds: $seconds}) END
WITH j
CALL () {
  MATCH (old:Kgrag:Job)
  WITH old ORDER BY old.created DESC, old.id SKIP $kept
  WHERE old.ended IS NOT NULL
  DETACH DELETE old
}
RETURN properties(j) AS job
