// Write communities without their reports, each with all its edges; what they are a part of is there before.
// mode: write
// $rows: LIST<MAP> - {id, level, name, title, names, size, laid, parent (id or null), members (entity ids), passages: [{id, weight}]}
// $collection: STRING - name of the collection
// $labels: LIST<STRING> - second label of the communities
UNWIND $rows AS row
MERGE (c:Kgrag:Community {id: row.id})
  ON CREATE SET c.collection = $collection, c.name = row.name, c.title = row.title, c.text = ''
SET c:$($labels), c.level = row.level, c.names = row.names, c.size = row.size, c.laid = row.laid
WITH c, row
CALL (c) {
  MATCH (c)-[r:PART_OF|SUMMARISES]->() DELETE r
}
CALL (c) {
  MATCH (c)<-[r:IN_COMMUNITY]-() DELETE r
}
CALL (c, row) {
  MATCH (parent:Kgrag:Community {id: row.parent}) MERGE (c)-[:PART_OF]->(parent)
}
CALL (c, row) {
  UNWIND row.passages AS passage
  MATCH (p:Kgrag:Passage {id: passage.id})
  MERGE (c)-[r:SUMMARISES]->(p) SET r.weight = passage.weight
}
CALL (c, row) {
  UNWIND row.members AS id
  MATCH (e:Kgrag:Entity {id: id})
  CALL (e) {
    MATCH (e)-[r:IN_COMMUNITY]->() DELETE r
  }
  MERGE (e)-[:IN_COMMUNITY]->(c)
}
