// The nearest of some passages to a vector.
// mode: read
// $ids: LIST<STRING> - passage ids
// $embedding: STRING - property that holds vectors
// $vector: LIST<FLOAT> - the question's vector
// $limit: INTEGER = 15 - rows wanted
// -> hits: LIST<LIST<ANY>> - [passage id, (1 + cosine) / 2]
UNWIND $ids AS id
MATCH (p:Kgrag:Passage {id: id}) WHERE p[$embedding] IS NOT NULL
WITH id, vector.similarity.cosine(p[$embedding], $vector) AS score ORDER BY score DESC, id LIMIT $limit
RETURN collect([id, score]) AS hits
