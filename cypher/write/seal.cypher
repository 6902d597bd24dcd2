// Mark documents as wholly written, and the links of their collection as to be found again if any document has some;
// hung on their collection last, because that locks the Collection node.
// mode: write
// $collection: STRING - name of the collection
// $rows: LIST<MAP> - {id, content_hash}
UNWIND $rows AS row
MATCH (d:Kgrag:Document {id: row.id})
SET d.content_hash = row.content_hash, d.updated = datetime()
WITH collect(DISTINCT d) AS documents
MATCH (c:Kgrag:Collection {id: $collection})
SET c.linked = CASE WHEN c.linked IS NOT NULL OR any(d IN documents WHERE d.meta_links IS NOT NULL) THEN false END
WITH c, documents
UNWIND documents AS d
WITH c, d WHERE NOT EXISTS { (:Collection)-[:HOLDS]->(d) }
CREATE (c)-[:HOLDS]->(d)
