// Give the lease back.
// mode: write
// $holder: STRING - who had it
MATCH (s:Kgrag:Schema {id: 'kgrag/schema', holder: $holder})
REMOVE s.holder, s.lease
