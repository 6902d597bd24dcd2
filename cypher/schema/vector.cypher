// Vector index over the nodes of a label in one collection, in one of the two properties that vectors stand in by turns.
// mode: schema
// label: own
// $index: STRING - name of the index
// $config: MAP - `vector.dimensions`, `vector.similarity_function`, and `vector.quantization.type` or, before 2026, `.enabled`
CREATE VECTOR INDEX $index IF NOT EXISTS FOR (n:{label}) ON ({properties})
OPTIONS {indexConfig: $config}
