// End a job, or give it back to be begun again.
// mode: write
// $id: STRING - job id
// $holder: STRING - who worked on it
// $state: STRING - done, failed, cancelled or queued
// $error: STRING - its error, or null
// $remedy: STRING - what to do about that, or null
// $error_kind: STRING - the class of that error, or null
// $result: STRING - what came of it as JSON, or null
MATCH (j:Kgrag:Job {id: $id})
SET j.attempt = j.attempt  // this locks the job, so that later reads stay true
WITH j WHERE j.holder = $holder AND j.state = 'running'
SET j.state = $state, j.error = $error, j.remedy = $remedy, j.error_kind = $error_kind, j.result = $result,
    j.ended = CASE WHEN $state = 'queued' THEN null ELSE datetime.realtime() END
REMOVE j.holder, j.lease, j.stop
