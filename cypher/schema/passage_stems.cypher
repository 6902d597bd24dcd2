// Index of the stems of one collection's passages in their order, for finding the passages that hold a word or a name.
// mode: schema
// $index: STRING - name of the index
CREATE FULLTEXT INDEX $index IF NOT EXISTS FOR (n:{label}) ON EACH [n.stems]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}
