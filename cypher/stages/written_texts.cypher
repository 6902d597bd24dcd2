// Return the documents of a collection with the texts that their words and names are read from.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - document id
// -> title: STRING - title
// -> outline: STRING - paths of headings, one a line, or null
// -> passages: LIST<MAP> - {id, section, text}, in their order
MATCH (d:Document {collection: $collection})
RETURN d.id AS id, coalesce(d.title, '') AS title, d.outline AS outline, COLLECT {
  MATCH (d)-[:HAS_PASSAGE]->(p:Passage)
  RETURN {id: p.id, section: coalesce(p.section, ''), text: p.text} ORDER BY p.ordinal
} AS passages
ORDER BY id
