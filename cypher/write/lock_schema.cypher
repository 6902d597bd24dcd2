// Lock the Schema node until the transaction ends.
// mode: write
MERGE (s:Schema {id: 'kgrag'})
ON CREATE SET s.name = 'kgrag schema', s.collections = 0
SET s.touched = datetime()
