// Begin work on a collection that a program does by itself, unless somebody works on it: a job that nobody else can do.
// The Schema node's lock keeps two that begin apart; what programs that died have left is removed.
// mode: write
// $id: STRING - job id
// $properties: MAP - name, collection, kind, parameters, owner, holder
// $seconds: INTEGER - how long the collection is left to it
// -> other: MAP - the properties of the job that somebody works on; null: the work is begun
MATCH (s:Kgrag:Schema {id: 'kgrag/schema'})
SET s.touched = datetime()
WITH s
CALL () {
  MATCH (old:Job {collection: $properties.collection, outside: true}) WHERE old.lease < datetime()
  DETACH DELETE old
}
OPTIONAL MATCH (o:Job {collection: $properties.collection, state: 'running'}) WHERE o.lease >= datetime()
WITH o LIMIT 1
CALL (o) {
  WITH o WHERE o IS NULL
  CREATE (j:Kgrag:Job {id: $id})
  SET j += $properties, j.state = 'running', j.stage = '', j.done = 0, j.attempt = 1, j.died = 0, j.outside = true,
      j.created = datetime.realtime(), j.started = datetime.realtime(),
      j.lease = datetime.realtime() + duration({seconds: $seconds})
}
RETURN properties(o) AS other
