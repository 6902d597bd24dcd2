// Extend the time for which a job is left to its process, and say how far it is.
// mode: write
// $id: STRING - job id
// $holder: STRING - who works on it
// $seconds: INTEGER - how long it is left to them
// $stage: STRING - its stage
// $done: INTEGER - how much of that is done
// $total: INTEGER - of how much, null if that is not known
// -> stop: BOOLEAN - whether it is to be cancelled; no row when it is no longer theirs
MATCH (j:Kgrag:Job {id: $id})
SET j.attempt = j.attempt  // this locks the job, so that later reads stay true
WITH j WHERE j.holder = $holder AND j.state = 'running'
SET j.lease = datetime.realtime() + duration({seconds: $seconds}), j.stage = $stage, j.done = $done, j.total = $total
RETURN coalesce(j.stop, false) AS stop
