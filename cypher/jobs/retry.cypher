// Have a job that failed or was cancelled done again, now.
// mode: write
// $id: STRING - job id
MATCH (j:Kgrag:Job {id: $id})
SET j.attempt = j.attempt  // this locks the job, so that later reads stay true
WITH j WHERE j.state IN ['failed', 'cancelled']
SET j.state = 'queued', j.died = 0, j.stage = '', j.done = 0
REMOVE j.begins, j.total, j.error, j.remedy, j.error_kind, j.result, j.started, j.ended
