// Cancel a job: at once if nobody works on it, else by telling whoever does.
// mode: write
// $id: STRING - job id
MATCH (j:Kgrag:Job {id: $id})
SET j.attempt = j.attempt  // this locks the job, so that later reads stay true
WITH j WHERE j.state IN ['queued', 'running']
SET j.stop = true
WITH j WHERE j.state = 'queued' OR j.lease < datetime() AND j.outside IS NULL
SET j.state = 'cancelled', j.ended = datetime.realtime()
REMOVE j.holder, j.lease, j.stop
