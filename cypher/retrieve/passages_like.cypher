// Passages whose id begins so, or whose document has that key or title.
// mode: read
// $collection: STRING = null - name of the collection, or null for all
// $text: STRING - beginning of a passage id (of 6 digits at least), a document key or a title
// -> id: STRING - passage id
// -> collection: STRING - its collection
CALL () {
  MATCH (p:Passage) WHERE size($text) >= 6 AND p.id STARTS WITH $text RETURN p
  UNION
  MATCH (d:Document)-[:HAS_PASSAGE]->(p:Passage) WHERE d.key = $text OR d.title = $text RETURN p
}
WITH p WHERE p.ordinal IS NOT NULL AND ($collection IS NULL OR p.collection = $collection)
RETURN p.id AS id, p.collection AS collection ORDER BY p.ordinal LIMIT 100
