// Dense among the documents that pass a filter: an exact scan of the filtered set. They are collected first: otherwise
// the planner scores and sorts the passages of all collections before it looks at the filter.
// mode: read
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds the vector
// $vector: LIST<FLOAT> - the question's vector
// $limit: INTEGER = 10 - rows wanted
// $where: MAP = {} - metadata key -> value as text
// $source: STRING = null - part of the document's source
// $since: DATETIME = null - documents written at or after this time
// -> hits: LIST<LIST<ANY>> - [passage id, (1 + cosine) / 2]
MATCH (d:Document {collection: $collection})
WHERE all(key IN keys($where) WHERE toString(d['meta_' + key]) = $where[key])
  AND ($source IS NULL OR d.source CONTAINS $source)
  AND ($since IS NULL OR d.updated >= $since)
WITH collect(d) AS documents
UNWIND documents AS d
MATCH (d)-[:HAS_PASSAGE]->(p:Passage) WHERE p[$embedding] IS NOT NULL
WITH p.id AS id, vector.similarity.cosine(p[$embedding], $vector) AS score
ORDER BY score DESC, id LIMIT $limit
RETURN collect([id, score]) AS hits
