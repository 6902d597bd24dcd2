// Vector index over the Entities of one collection that titles or triples name (the second slot, used in turn by reembed).
// mode: schema
// $index: STRING - name of the index
// $dimension: INTEGER - length of the vectors
CREATE VECTOR INDEX $index IF NOT EXISTS FOR (n:{label}) ON (n.embedding_b)
OPTIONS {indexConfig: {`vector.dimensions`: $dimension, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: true}}
