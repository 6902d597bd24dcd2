// Replace the keywords of passages.
// mode: write
// $collection: STRING - name of the collection
// $keywords: LIST<MAP> - {id, stem, name}
// $rows: LIST<MAP> - {id (of a passage), keywords: [{id, weight, text (the word as the passage writes it)}]}
// -> before: LIST<STRING> - keywords that they had before
CALL () {
  UNWIND $rows AS row
  MATCH (:Kgrag:Passage {id: row.id})-[h:HAS_KEYWORD]->(k:Keyword)
  DELETE h
  RETURN collect(DISTINCT k.id) AS before
}
CALL () {
  UNWIND $keywords AS row
  MERGE (k:Kgrag:Keyword {id: row.id})
  ON CREATE SET k.stem = row.stem, k.name = row.name, k.text = row.name, k.collection = $collection, k.df = 0
}
CALL () {
  UNWIND $rows AS row
  MATCH (p:Kgrag:Passage {id: row.id})
  UNWIND row.keywords AS keyword
  MATCH (k:Kgrag:Keyword {id: keyword.id})
  CREATE (p)-[:HAS_KEYWORD {weight: keyword.weight, text: keyword.text}]->(k)
}
RETURN before
