// Mark documents as wholly written; hung on their collection last, because that locks the Collection node.
// mode: write
// $collection: STRING - name of the collection
// $rows: LIST<MAP> - {id, content_hash}
UNWIND $rows AS row
MATCH (d:Document {id: row.id})
SET d.content_hash = row.content_hash
WITH collect(DISTINCT d) AS documents
MATCH (c:Collection {name: $collection})
UNWIND documents AS d
WITH c, d WHERE NOT EXISTS { (:Collection)-[:HOLDS]->(d) }
CREATE (c)-[:HOLDS]->(d)
