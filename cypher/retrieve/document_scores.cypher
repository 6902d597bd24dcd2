// The passage of each document that is nearest to a vector, if one has a vector at all.
// mode: read
// $ids: LIST<STRING> - document ids
// $embedding: STRING - property that holds vectors
// $vector: LIST<FLOAT> - the question's vector
// -> document: STRING - document id
// -> id: STRING - passage id
// -> score: FLOAT - (1 + cosine) / 2
UNWIND $ids AS document
MATCH (:Kgrag:Document {id: document})-[:HAS_PASSAGE]->(p:Passage) WHERE p[$embedding] IS NOT NULL
WITH document, p.id AS id, vector.similarity.cosine(p[$embedding], $vector) AS score ORDER BY score DESC, id
WITH document, head(collect({id: id, score: score})) AS best
RETURN document, best.id AS id, best.score AS score ORDER BY document
