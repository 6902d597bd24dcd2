// How many jobs are in each state, and since when the oldest of these is.
// mode: read
// -> state: STRING - queued, running, done, failed or cancelled
// -> number: INTEGER - its jobs
// -> seconds: FLOAT - since the oldest of them was asked for
MATCH (j:Kgrag:Job)
WITH j.state AS state, count(*) AS number, min(j.created) AS oldest
RETURN state, number, duration.inSeconds(oldest, datetime()).seconds * 1.0 AS seconds ORDER BY state
