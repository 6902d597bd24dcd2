// Range index over nodes of a label: by their collection, where counts, digests and deletes start; by another property in
// it, such as todo: nodes that do not have the property are not in the index.
// mode: schema
// label: held
// $index: STRING - name of the index
CREATE INDEX $index IF NOT EXISTS FOR (n:{label}) ON ({properties})
