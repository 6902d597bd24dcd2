// Full-text index over the names of one collection's entities, for linking misspelt names.
// mode: schema
// $index: STRING - name of the index
CREATE FULLTEXT INDEX $index IF NOT EXISTS FOR (n:{label}) ON EACH [n.name]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-folding'}}
