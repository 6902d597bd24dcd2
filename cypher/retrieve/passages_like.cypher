// Passages whose id begins so, or whose document has that key, title or file name; the last with or without its folders and ending.
// mode: read
// $collection: STRING = null - name of the collection, or null for all
// $text: STRING - beginning of a passage id (of 6 digits at least), a document key, a title or the end of a path
// -> id: STRING - passage id
// -> collection: STRING - its collection
CALL () {
  MATCH (p:Kgrag:Passage) WHERE size($text) >= 6 AND p.id STARTS WITH $text RETURN p, 0 AS place
  UNION
  MATCH (d:Document)-[:HAS_PASSAGE]->(p:Passage) WHERE d.key = $text OR d.title = $text RETURN p, 0 AS place
  UNION
  MATCH (d:Document)-[:HAS_PASSAGE]->(p:Passage)
  WHERE $text <> '' AND d.key ENDS WITH '/' + $text
     OR '/' + d.key CONTAINS '/' + $text + '.' AND NOT last(split('/' + d.key, '/' + $text + '.')) CONTAINS '/'
  RETURN p, 1 AS place
}
WITH p, place WHERE p.ordinal IS NOT NULL AND ($collection IS NULL OR p.collection = $collection)
RETURN p.id AS id, p.collection AS collection ORDER BY place, p.ordinal, p.id LIMIT 100
