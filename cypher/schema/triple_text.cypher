// Full-text index (BM25) over the triples of one collection, English stemming.
// mode: schema
// $index: STRING - name of the index
CREATE FULLTEXT INDEX $index IF NOT EXISTS FOR (n:{label}) ON EACH [n.text]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}
