// End work on a collection that a program did by itself.
// mode: write
// $id: STRING - job id
MATCH (j:Kgrag:Job {id: $id}) WHERE j.outside
DETACH DELETE j
