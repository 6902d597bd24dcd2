// Replace the names that a language model found in passages: keywords of their own, which no text is searched for.
// mode: write
// $collection: STRING - name of the collection
// $ids: LIST<STRING> - passage ids
// $rows: LIST<MAP> - {passage, id (of the keyword), stem, name}, for each name of a passage
// -> keyword: STRING - id of a keyword that a passage had before
// source: GNN-Ret, section 3.1 and appendix B
CALL () {
  UNWIND $ids AS id
  MATCH (:Kgrag:Passage {id: id})-[n:NAMES]->(k:Keyword)
  DELETE n
  RETURN collect(DISTINCT k.id) AS before
}
CALL () {
  UNWIND $rows AS row
  MATCH (p:Kgrag:Passage {id: row.passage})
  MERGE (k:Kgrag:Keyword {id: row.id})
  ON CREATE SET k.stem = row.stem, k.name = row.name, k.text = row.name, k.collection = $collection, k.df = 0
  MERGE (p)-[:NAMES]->(k)
}
UNWIND before AS keyword
RETURN keyword
