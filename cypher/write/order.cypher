// Give a document's passages their ordinals, names and NEXT edges, from the list of all its passages in order.
// mode: write
// $rows: LIST<MAP> - {id, name, passages}
UNWIND $rows AS row
MATCH (d:Document {id: row.id})
CALL (d) {
  MATCH (d)-[:HAS_PASSAGE]->(:Passage)-[n:NEXT]->() DELETE n
}
WITH row, size(row.passages) AS size
UNWIND range(0, size - 1) AS i
MATCH (p:Passage {id: row.passages[i]})
SET p.ordinal = i, p.name = CASE WHEN size = 1 THEN row.name ELSE toString(i + 1) + ' · ' + row.name END
WITH row, i, p WHERE i > 0
MATCH (before:Passage {id: row.passages[i - 1]})
CREATE (before)-[:NEXT]->(p)
