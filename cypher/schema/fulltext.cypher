// Full-text index (BM25) over properties of the nodes of a label in one collection.
// mode: schema
// label: own
// $index: STRING - name of the index
// $analyzer: STRING - Lucene analyzer: english stems, standard-no-stop-words keeps words, whitespace takes words as they are
CREATE FULLTEXT INDEX $index IF NOT EXISTS FOR (n:{label}) ON EACH [{properties}]
OPTIONS {indexConfig: {`fulltext.analyzer`: $analyzer}}
