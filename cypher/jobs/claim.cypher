// Begin the next job, if there is one. A collection has one running job at a time. Jobs whose process died come first,
// unless they were cancelled. Work of client programs and jobs that begin later are skipped. The Schema node's lock
// prevents two workers from claiming the same job.
// mode: write
// $holder: STRING - who begins it
// $seconds: INTEGER - how long it is left to them
// -> job: MAP - its properties; no row when there is nothing to do
MATCH (s:Kgrag:Schema {id: 'kgrag/schema'})
WHERE EXISTS {
  (w:Kgrag:Job) WHERE w.state = 'queued' AND coalesce(w.begins <= datetime(), true)
    OR w.state = 'running' AND w.lease < datetime() AND w.outside IS NULL
}
SET s.touched = datetime()
WITH s
CALL (s) {
  MATCH (j:Kgrag:Job) WHERE j.stop AND j.state = 'running' AND j.lease < datetime() AND j.outside IS NULL
  SET j.state = 'cancelled', j.ended = datetime.realtime()
  REMOVE j.holder, j.lease, j.stop
}
WITH s
MATCH (j:Kgrag:Job)
WHERE (j.state = 'queued' AND coalesce(j.begins <= datetime(), true)
       OR j.state = 'running' AND j.lease < datetime() AND j.outside IS NULL)
  AND NOT EXISTS { (o:Kgrag:Job {collection: j.collection, state: 'running'}) WHERE o <> j AND o.lease >= datetime() }
WITH j ORDER BY j.state DESC, j.created, j.id LIMIT 1
SET j.died = j.died + CASE j.state WHEN 'running' THEN 1 ELSE 0 END
SET j.state = 'running', j.attempt = j.attempt + 1, j.started = datetime.realtime(), j.stage = '', j.done = 0,
    j.holder = $holder, j.lease = datetime.realtime() + duration({seconds: $seconds})
REMOVE j.total
RETURN properties(j) AS job
