// HippoRAG 2, reset of passages: how near every passage of a collection is to the question.
// mode: read
// $collection: STRING - name of the collection
// $embedding: STRING - property that holds vectors
// $vector: LIST<FLOAT> - the question's vector
// -> cosines: LIST<LIST<ANY>> - [passage id, cosine], in no order
MATCH (p:Passage {collection: $collection}) WHERE p[$embedding] IS NOT NULL
RETURN collect([p.id, 2 * vector.similarity.cosine(p[$embedding], $vector) - 1]) AS cosines
