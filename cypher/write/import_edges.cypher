// Make edges of any type between nodes that are there.
// mode: write
// $collection: STRING - name of the collection, of which they are
// $rows: LIST<MAP> - start: STRING (id of a node, or name of a Collection); ends: MAP of label to LIST<MAP> of end, type, properties
// -> number: INTEGER - edges made
UNWIND $rows AS row
CALL (row) {
  MATCH (n:Collection {name: row.start}) RETURN n AS start
  UNION ALL MATCH (n:Document {id: row.start}) RETURN n AS start
  UNION ALL MATCH (n:Page {id: row.start}) RETURN n AS start
  UNION ALL MATCH (n:Table {id: row.start}) RETURN n AS start
  UNION ALL MATCH (n:Passage {id: row.start}) RETURN n AS start
  UNION ALL MATCH (n:Keyword {id: row.start}) RETURN n AS start
  UNION ALL MATCH (n:Word {id: row.start}) RETURN n AS start
  UNION ALL MATCH (n:Entity {id: row.start}) RETURN n AS start
  UNION ALL MATCH (n:Triple {id: row.start}) RETURN n AS start
  UNION ALL MATCH (n:Run {id: row.start}) RETURN n AS start
  UNION ALL MATCH (n:Step {id: row.start}) RETURN n AS start
}
CALL (row) {
  UNWIND row.ends.Document AS edge MATCH (n:Document {id: edge.end}) RETURN edge, n AS end
  UNION ALL UNWIND row.ends.Page AS edge MATCH (n:Page {id: edge.end}) RETURN edge, n AS end
  UNION ALL UNWIND row.ends.Table AS edge MATCH (n:Table {id: edge.end}) RETURN edge, n AS end
  UNION ALL UNWIND row.ends.Passage AS edge MATCH (n:Passage {id: edge.end}) RETURN edge, n AS end
  UNION ALL UNWIND row.ends.Keyword AS edge MATCH (n:Keyword {id: edge.end}) RETURN edge, n AS end
  UNION ALL UNWIND row.ends.Word AS edge MATCH (n:Word {id: edge.end}) RETURN edge, n AS end
  UNION ALL UNWIND row.ends.Entity AS edge MATCH (n:Entity {id: edge.end}) RETURN edge, n AS end
  UNION ALL UNWIND row.ends.Triple AS edge MATCH (n:Triple {id: edge.end}) RETURN edge, n AS end
  UNION ALL UNWIND row.ends.Run AS edge MATCH (n:Run {id: edge.end}) RETURN edge, n AS end
  UNION ALL UNWIND row.ends.Step AS edge MATCH (n:Step {id: edge.end}) RETURN edge, n AS end
}
WITH start, edge, end WHERE start.collection = $collection AND end.collection = $collection
CREATE (start)-[r:$(edge.type)]->(end)
SET r = edge.properties
RETURN count(r) AS number
