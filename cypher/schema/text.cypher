// Text index over a property of a label, for names that end in or hold some letters: files by their names.
// mode: schema
// label: all
// $index: STRING - name of the index
CREATE TEXT INDEX $index IF NOT EXISTS FOR (n:{label}) ON ({properties})
