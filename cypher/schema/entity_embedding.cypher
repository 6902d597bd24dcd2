// Vector index over the Entities of one collection that titles or triples name.
// mode: schema
// $index: STRING - name of the index
// $dimension: INTEGER - length of the vectors
CREATE VECTOR INDEX $index IF NOT EXISTS FOR (n:{label}) ON (n.embedding)
OPTIONS {indexConfig: {`vector.dimensions`: $dimension, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: true}}
