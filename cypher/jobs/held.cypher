// The jobs that somebody is at work on, the oldest first.
// mode: read
// $collection: STRING - of this collection, or null for all
// -> job: MAP - its properties
MATCH (j:Kgrag:Job {state: 'running'})
WHERE j.lease >= datetime() AND ($collection IS NULL OR j.collection = $collection)
RETURN properties(j) AS job ORDER BY j.created, j.id
