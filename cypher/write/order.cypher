// Give a document's passages their ordinals, names and NEXT edges, from the list of all its passages in order.
// mode: write
// $rows: LIST<MAP> - {id, names, passages}: a name for each passage
UNWIND $rows AS row
MATCH (d:Kgrag:Document {id: row.id})
CALL (d) {
  MATCH (d)-[:HAS_PASSAGE]->(:Passage)-[n:NEXT]->() DELETE n
}
UNWIND range(0, size(row.passages) - 1) AS i
MATCH (p:Kgrag:Passage {id: row.passages[i]})
SET p.ordinal = i, p.name = row.names[i]
WITH row, i, p WHERE i > 0
MATCH (before:Kgrag:Passage {id: row.passages[i - 1]})
CREATE (before)-[:NEXT]->(p)
