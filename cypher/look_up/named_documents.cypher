// The documents of a collection with what their names come from: title, headings and texts.
// mode: read
// $collection: STRING - name of the collection
// -> id: STRING - document id
// -> title: STRING - its title, or nothing
// -> outline: STRING - the paths of its headings, one a line
// -> passages: LIST<MAP> - in their order: {id, section, text}
MATCH (d:Document {collection: $collection})
RETURN d.id AS id, coalesce(d.title, '') AS title, coalesce(d.outline, '') AS outline,
       COLLECT { MATCH (d)-[:HAS_PASSAGE]->(p) RETURN {id: p.id, section: coalesce(p.section, ''), text: p.text} ORDER BY p.ordinal } AS passages
