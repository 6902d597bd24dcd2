// Replace the keywords of passages.
// mode: write
// $collection: STRING - name of the collection
// $passages: LIST<STRING> - passages whose keywords are replaced
// $keywords: LIST<MAP> - {id, stem, name}
// $rows: LIST<MAP> - {passage, keyword, weight}
// -> keyword: STRING - keyword whose df is due
CALL () {
  UNWIND $passages AS id
  MATCH (:Passage {id: id})-[h:HAS_KEYWORD]->(k:Keyword)
  DELETE h
  RETURN collect(DISTINCT k.id) AS before
}
CALL () {
  UNWIND $keywords AS row
  MERGE (k:Keyword {id: row.id})
  ON CREATE SET k.stem = row.stem, k.name = row.name, k.text = row.name, k.collection = $collection, k.df = 0
}
CALL () {
  UNWIND $rows AS row
  MATCH (p:Passage {id: row.passage})
  MATCH (k:Keyword {id: row.keyword})
  CREATE (p)-[:HAS_KEYWORD {weight: row.weight}]->(k)
  RETURN collect(DISTINCT k.id) AS after
}
UNWIND before + after AS keyword
RETURN DISTINCT keyword
