// Give the lease back.
// mode: write
// $holder: STRING - who had it
MATCH (s:Schema {id: 'kgrag', holder: $holder})
REMOVE s.holder, s.lease
