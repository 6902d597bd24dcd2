// title: Collection: its indexes
// The indexes of a collection by their names, for statements of your own: CALL db.index.fulltext.queryNodes(name, words)
// or db.index.vector.queryNodes(name, k, vector). They hold nothing of other collections.
// mode: read
// $collection: STRING = 'default' - name of the collection
// -> index: STRING - name of the index
// -> kind: STRING - full-text or vector
// -> label: STRING - the label that it indexes
MATCH (c:Kgrag:Collection {id: $collection})
UNWIND [
  ['passage_text_c', 'full-text', 'Passage'], ['passage_stems_c', 'full-text', 'Passage'],
  ['triple_text_c', 'full-text', 'Triple'],
  ['entity_name_c', 'full-text', 'Entity'],
  ['passage_' + c.embedding + '_c', 'vector', 'Passage'],
  ['summary_' + c.embedding + '_c', 'vector', 'Summary'],
  ['community_' + c.embedding + '_c', 'vector', 'Community'],
  ['triple_' + c.embedding + '_c', 'vector', 'Triple'],
  ['entity_' + c.embedding + '_c', 'vector', 'Entity']
] AS row
RETURN row[0] + c.number AS index, row[1] AS kind, row[2] AS label
