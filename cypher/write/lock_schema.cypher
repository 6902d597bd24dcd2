// Take the lease under which indexes are made, unless somebody else has it.
// mode: write
// $holder: STRING - who wants it
// $seconds: INTEGER - how long it lasts if it is not given back
// -> held: BOOLEAN - whether the lease is the holder's now
MERGE (s:Kgrag:Schema {id: 'kgrag/schema'})
ON CREATE SET s.name = 'kgrag schema', s.collections = 0
SET s.touched = datetime()
WITH s, s.holder IS NULL OR s.holder = $holder OR s.lease < datetime() AS free
SET s.holder = CASE WHEN free THEN $holder ELSE s.holder END,
    s.lease = CASE WHEN free THEN datetime() + duration({seconds: $seconds}) ELSE s.lease END
RETURN free AS held
